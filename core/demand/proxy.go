package demand

import "math"

// Prior writes r = softmax(score / temperature) to dst (eq. 9): how likely the store itself thinks each of the
// n candidates. The publication's temperature is 1. dst and scores have length n ≥ 1; temperature > 0.
func Prior(dst, scores []float64, temperature float64) []float64 {
	return softmax(dst, scores, temperature)
}

// Likelihood writes L_i = Σ_j q̃_j · max(cos(c_i, q_j), 0) to dst, as published (eq. 10). subQueries holds
// cos(c_i, q_j) as m slices of length n, weights q̃ has length m.
func Likelihood(dst []float64, subQueries [][]float64, weights []float64) []float64 {
	clear(dst)
	for j, cosines := range subQueries {
		for i, c := range cosines {
			dst[i] += weights[j] * max(c, 0)
		}
	}
	return dst
}

// PosteriorLikelihood writes L_i = Σ_j q̃_j · softmax_i(cos(c_i, q_j) / temperature) to dst: each sub-query
// spreads its weight over the candidates that could answer it, instead of over all of them nearly alike.
// scratch has length n. Shapes as in [Likelihood].
func PosteriorLikelihood(dst []float64, subQueries [][]float64, weights []float64, temperature float64, scratch []float64) []float64 {
	clear(dst)
	for j, cosines := range subQueries {
		if weights[j] == 0 {
			continue
		}
		for i, p := range softmax(scratch, cosines, temperature) {
			dst[i] += weights[j] * p
		}
	}
	return dst
}

// FuseProduct writes P_i ∝ r_i^α · L_i^β to dst (eq. 11) and reports whether it has any mass; without mass dst
// is not a distribution. An exponent of 0 leaves its factor out, also where the factor is 0.
func FuseProduct(dst, prior, likelihood []float64, alpha, beta float64) bool {
	for i := range dst {
		dst[i] = power(prior[i], alpha) * power(likelihood[i], beta)
	}
	return normalise(dst)
}

// FuseSum writes P_i ∝ α·r_i + β·L_i/ΣL to dst, the additive alternative of the ablations, and reports whether
// it has any mass.
func FuseSum(dst, prior, likelihood []float64, alpha, beta float64) bool {
	var total float64
	for _, l := range likelihood {
		total += l
	}
	if total == 0 {
		total = 1
	}
	for i := range dst {
		dst[i] = alpha*prior[i] + beta*likelihood[i]/total
	}
	return normalise(dst)
}

func power(x, exponent float64) float64 {
	switch exponent {
	case 0:
		return 1
	case 1:
		return x
	}
	return math.Pow(x, exponent)
}

// softmax writes exp(x_i/t) / Σ exp(x/t), shifted by the maximum so that no term overflows.
func softmax(dst, x []float64, t float64) []float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	var sum float64
	for i, v := range x {
		dst[i] = math.Exp((v - top) / t)
		sum += dst[i]
	}
	for i := range x {
		dst[i] /= sum
	}
	return dst
}
