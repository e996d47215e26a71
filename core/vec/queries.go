package vec

// groupSize queries share one reading of a row.
const groupSize = 4

// Queries are vectors of one dimension that are to be multiplied with many rows: four of them share each reading of
// a row. Every product is that of [Dot] bit for bit. The zero value holds none; Reset fills it. Dots is safe for
// concurrent use, Reset is not.
type Queries struct {
	vectors [][]float32
	packed  []float64 // the whole lanes in float64, query after query, up to a whole group
	width   int
}

// Reset replaces the queries by vectors, which are kept, not copied, and all have the same length. It reuses memory.
func (q *Queries) Reset(vectors [][]float32) {
	q.vectors, q.width, q.packed = vectors, 0, q.packed[:0]
	if !accelerated || len(vectors) == 0 {
		return
	}
	q.width = len(vectors[0]) &^ (lanes - 1)
	size := (len(vectors) + groupSize - 1) / groupSize * groupSize * q.width
	if cap(q.packed) < size {
		q.packed = make([]float64, size)
	}
	q.packed = q.packed[:size]
	clear(q.packed[len(vectors)*q.width:])
	for i, v := range vectors {
		for c, x := range v[:q.width] {
			q.packed[i*q.width+c] = float64(x)
		}
	}
}

// Dots writes the inner products of row with every query to dst, of their number, and returns dst.
func (q *Queries) Dots(dst []float64, row []float32) []float64 {
	if q.width == 0 {
		for i, v := range q.vectors {
			dst[i] = Dot(row, v)
		}
		return dst
	}
	var sums [groupSize * lanes]float64
	for first := 0; first < len(q.vectors); first += groupSize {
		groupLanes(&sums, row, q.packed[first*q.width:(first+groupSize)*q.width], q.width)
		for i := first; i < min(first+groupSize, len(q.vectors)); i++ {
			dst[i] = total(sums[(i-first)*lanes:], row, q.vectors[i], q.width)
		}
	}
	return dst
}

// DotsOf writes the inner products of n rows with every query: dst holds one slice of length n for each query, and row
// returns the i-th row. Two rows share one reading of the queries where the processor can.
func (q *Queries) DotsOf(dst [][]float64, n int, row func(i int) []float32) {
	i := 0
	if wide && q.width > 0 {
		for ; i+1 < n; i += 2 {
			q.dotsPair(dst, i, row(i), row(i+1))
		}
	}
	var few [16]float64
	dots := few[:0]
	if len(q.vectors) > len(few) {
		dots = make([]float64, 0, len(q.vectors))
	}
	for ; i < n; i++ {
		for j, x := range q.Dots(dots[:len(q.vectors)], row(i)) {
			dst[j][i] = x
		}
	}
}

// dotsPair writes the products of rows i and i+1.
func (q *Queries) dotsPair(dst [][]float64, i int, row0, row1 []float32) {
	var sums [2 * groupSize * lanes]float64
	for first := 0; first < len(q.vectors); first += groupSize {
		pairLanes(&sums, row0, row1, q.packed[first*q.width:(first+groupSize)*q.width], q.width)
		for j := first; j < min(first+groupSize, len(q.vectors)); j++ {
			at := (j - first) * lanes
			dst[j][i] = total(sums[at:], row0, q.vectors[j], q.width)
			dst[j][i+1] = total(sums[groupSize*lanes+at:], row1, q.vectors[j], q.width)
		}
	}
}
