package demand

// Weights writes q̃, the weight of each sub-query, to dst and returns it with the scheme that was used
// and whether that is a fallback (eq. 8). The weights are non-negative and sum to 1; dst and v have length m ≥ 1.
//
//   - [WeightQuality]: Quality, where below threshold 0, normalised.
//   - [WeightOverlap]: Overlap, normalised.
//   - [WeightUniform]: 1/m' over the m' sub-queries whose overlap is at least drift; the others reach no
//     candidate of the question and are taken to have drifted from it.
//
// Where a scheme leaves every weight at zero it falls back: quality to overlap, and any scheme to plain uniform.
func Weights(dst []float64, v []Validation, scheme Weighting, threshold, drift float64) (used Weighting, fellBack bool) {
	for used = scheme; ; used, fellBack = next(used), true {
		if fellBack && used == WeightUniform {
			drift = 0 // the last resort takes all
		}
		for j := range dst {
			dst[j] = weight(v[j], used, threshold, drift)
		}
		if normalise(dst) {
			return used, fellBack
		}
	}
}

func weight(v Validation, scheme Weighting, threshold, drift float64) float64 {
	switch {
	case scheme == WeightQuality && v.Quality >= threshold:
		return v.Quality
	case scheme == WeightOverlap:
		return v.Overlap
	case scheme == WeightUniform && v.Overlap >= drift:
		return 1
	}
	return 0
}

func next(scheme Weighting) Weighting {
	if scheme == WeightQuality {
		return WeightOverlap
	}
	return WeightUniform
}

// normalise scales values to sum 1; false where their sum is not positive.
func normalise(values []float64) bool {
	var sum float64
	for _, v := range values {
		sum += v
	}
	if !(sum > 0) {
		return false
	}
	for i := range values {
		values[i] /= sum
	}
	return true
}
