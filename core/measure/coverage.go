package measure

import "slices"

// CoverageThreshold is the cosine above which a passage counts as answering a sub-query, or as serving a peak of
// the demand (the publication's match at cosine > 0.6).
const CoverageThreshold = 0.6

// Covered tells for each of m sub-queries whether one of the k chosen passages answers it. cosines is the m×k matrix
// of sub-queries and passages.
func Covered(cosines [][]float64) []bool {
	covered := make([]bool, len(cosines))
	for j, row := range cosines {
		covered[j] = slices.ContainsFunc(row, func(c float64) bool { return c > CoverageThreshold })
	}
	return covered
}

// Coverage returns the share, in [0, 1], of the m sub-queries that [Covered] finds answered.
func Coverage(cosines [][]float64) float64 { return share(Covered(cosines)) }

// share is the part of flags that is true; 0 where there are none.
func share(flags []bool) float64 {
	if len(flags) == 0 {
		return 0
	}
	count := 0
	for _, flag := range flags {
		if flag {
			count++
		}
	}
	return float64(count) / float64(len(flags))
}
