package measure

import "github.com/georag/georag/core/vec"

// Cosines returns the matrix cos(rows[i], columns[j]), len(rows) slices of length len(columns), with values in
// [-1, 1]. Vectors have one dimension and any norm; the cosine with a zero vector is 0.
func Cosines(rows, columns [][]float32) [][]float64 {
	left, right := units(rows), units(columns)
	matrix := make([][]float64, len(left))
	for i, a := range left {
		matrix[i] = make([]float64, len(right))
		for j, b := range right {
			matrix[i][j] = vec.Clamp(vec.Dot(a, b))
		}
	}
	return matrix
}

func units(vectors [][]float32) [][]float32 {
	normalised := make([][]float32, len(vectors))
	for i, v := range vectors {
		normalised[i] = vec.Normalise(nil, v)
	}
	return normalised
}
