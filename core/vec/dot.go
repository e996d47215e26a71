package vec

// Dot returns the inner product of a and b, which must have the same length. Products are formed in
// float64 (exact for float32 factors) and summed in eight independent lanes, which are added in a fixed
// order, so the result does not depend on the machine.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		panic("core/vec: dot of different lengths")
	}
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	n := len(a) &^ 7
	for i := 0; i < n; i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		s4 += float64(x[4]) * float64(y[4])
		s5 += float64(x[5]) * float64(y[5])
		s6 += float64(x[6]) * float64(y[6])
		s7 += float64(x[7]) * float64(y[7])
	}
	for i := n; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
