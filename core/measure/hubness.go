package measure

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// KOccurrences counts for each of n points in how many lists of neighbours it stands (N_k). Each list holds the rows
// of the k nearest neighbours of one query, without repetition.
func KOccurrences(neighbours [][]int, n int) []int {
	counts := make([]int, n)
	for _, list := range neighbours {
		for _, row := range list {
			counts[row]++
		}
	}
	return counts
}

// Hubness returns the skewness of the k-occurrences, E[(N_k−μ)³]/σ³ (Radovanović, Nanopoulos and Ivanović 2010): near
// 0 where all points are found alike, well above 1 where a few hubs crowd the others out of the results, negative
// where a few points are hardly ever found. It is 0 when all counts are equal.
func Hubness(occurrences []int) float64 {
	counts := make([]float64, len(occurrences))
	for i, c := range occurrences {
		counts[i] = float64(c)
	}
	if len(counts) == 0 {
		return 0
	}
	variance := stat.Moment(2, counts, nil)
	if variance == 0 {
		return 0
	}
	return stat.Moment(3, counts, nil) / math.Pow(variance, 1.5)
}
