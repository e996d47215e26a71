package vec

// lanes are the independent sums of every inner product. They are added in a fixed order at the end, so a product
// is the same bit for bit whichever code computed it: products of two float32 are exact in float64, fused or not.
const lanes = 8

// Dot returns the inner product of a and b, which must have the same length, summed in float64.
func Dot(a, b []float32) float64 {
	if len(a) != len(b) {
		panic("core/vec: dot of different lengths")
	}
	var sums [lanes]float64
	width := len(a) &^ (lanes - 1)
	if width > 0 {
		dotLanes(&sums, a, b, width)
	}
	return total(sums[:], a, b, width)
}

// total adds the components beyond the whole lanes to the first lane, and then the lanes.
func total(s []float64, a, b []float32, width int) float64 {
	_ = s[lanes-1]
	first := s[0]
	for i := width; i < len(a); i++ {
		first += float64(a[i]) * float64(b[i])
	}
	return ((first + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// dotLanesGo sets sums to the lane sums of the first width components.
func dotLanesGo(sums *[lanes]float64, a, b []float32, width int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for i := 0; i < width; i += lanes {
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
	*sums = [lanes]float64{s0, s1, s2, s3, s4, s5, s6, s7}
}
