// Package measure says how good a selection is: against gold passages, against the sub-queries, against itself, and
// how certain a mean over questions is.
//
// Everything here is numbers and opaque values. Geometry comes as matrices of cosines ([Cosines]); gold passages are
// compared by equality of whatever identifies them. A measure of nothing (no gold, no sub-query, no pair) is 0, never
// NaN: leave such questions out of a mean, or count them as failures.
package measure
