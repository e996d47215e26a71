package ot

import "math"

// expFloor is where exponential stops: exp(-700) is about 1e-304, nothing beside the row maxima it is added to, and
// every value stays a normal number.
const expFloor = -700

const (
	roundingShift = 3 << 51 // adding it to |x| < 2^51 leaves the nearest integer to x in the low bits
	ln2High       = 6.93147180369123816490e-01
	ln2Low        = 1.90821492927058770002e-10
)

// expConstants are the numbers exponential works with, in the order its assembly reads them: the bounds and the
// reduction x = n·ln 2 + r, |r| ≤ ln(2)/2, then the Taylor coefficients of exp from degree 13 down to degree 1. The
// first one left out contributes at most r^14/14! < 5e-18.
var expConstants = [...]float64{
	expFloor, math.Log2E, roundingShift, ln2High, ln2Low,
	1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
	1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1,
}

// exponentialGo writes exp(max(scale·src, expFloor)) to dst within 2 units in the last place, for arguments up to
// 700. The length is a positive multiple of rowBlock; dst may be src.
func exponentialGo(dst, src []float64, scale float64) {
	dst = dst[:len(src)]
	for i, x := range src {
		x = max(float64(x*scale), expFloor)
		shifted := float64(x*math.Log2E) + roundingShift
		n := shifted - roundingShift
		r := x - float64(n*ln2High)
		r -= float64(n * ln2Low)
		y := expConstants[5]
		for _, c := range expConstants[6:] {
			y = float64(y*r) + c
		}
		y = float64(y*r) + 1
		dst[i] = math.Float64frombits(math.Float64bits(y) + math.Float64bits(shifted)<<52)
	}
}
