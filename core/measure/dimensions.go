package measure

import "slices"

// Dimensions tells which peaks of a question's demand a selection serves. The publication's questions have two peaks,
// A and B, the two things that both need evidence: gold sub-questions or gold passages.
type Dimensions struct {
	// Peaks has one entry per peak, in the order given: A, B, and further ones where a question has more hops.
	Peaks []bool
	// All: there is at least one peak and every one is served ("both" of two).
	All bool
}

// DimensionCoverage matches peaks with chosen passages at a cosine above [CoverageThreshold]. cosines is the matrix
// of peaks and passages.
func DimensionCoverage(cosines [][]float64) Dimensions {
	peaks := Covered(cosines)
	return Dimensions{Peaks: peaks, All: len(peaks) > 0 && !slices.Contains(peaks, false)}
}
