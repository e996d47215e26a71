package measure

// Redundancy returns the mean cosine over the k(k−1)/2 pairs of chosen passages, in [-1, 1]; lower is more diverse.
// cosines is the symmetric k×k matrix of the passages with themselves; its diagonal is not read.
func Redundancy(cosines [][]float64) float64 {
	sum, pairs := 0.0, 0
	for i, row := range cosines {
		for _, c := range row[:i] {
			sum += c
			pairs++
		}
	}
	if pairs == 0 {
		return 0
	}
	return sum / float64(pairs)
}
