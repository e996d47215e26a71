// Package plane makes flat pictures of vectors.
package plane

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/georag/georag/core/vec"
)

// Fit places n vectors of dimension dim, scaled to length 1, in the plane of their first two principal components.
// Explained is the share of the variance along each axis. The sign of a component is arbitrary: the last vector is put
// right of and above the centre. ok is false where too few vectors span no plane.
//
// The components are the eigenvectors of the smaller of X Xᵀ (n × n) and Xᵀ X (dim × dim), X being the centred vectors:
// the cost is O(n·dim·min(n, dim)).
func Fit(vectors [][]float32, dim int) (points [][2]float64, explained [2]float64, ok bool) {
	n := len(vectors)
	if n < 3 || dim < 2 {
		return nil, explained, false
	}
	centred := centre(vectors, dim)
	gram := mat.NewSymDense(min(n, dim), nil)
	if n <= dim {
		gram.SymOuterK(1, centred)
	} else {
		gram.SymOuterK(1, centred.T())
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, true) {
		return nil, explained, false
	}
	values := eigen.Values(nil) // ascending
	var directions mat.Dense
	eigen.VectorsTo(&directions)
	total := 0.0
	for _, v := range values {
		total += max(v, 0)
	}
	points = make([][2]float64, n)
	for axis := range explained {
		column := len(values) - 1 - axis
		place(points, axis, coordinates(centred, directions.ColView(column), n <= dim, max(values[column], 0)))
		if total > 0 {
			explained[axis] = max(values[column], 0) / total
		}
	}
	return points, explained, true
}

// centre returns the unit vectors less their mean, one a row.
func centre(vectors [][]float32, dim int) *mat.Dense {
	centred := mat.NewDense(len(vectors), dim, nil)
	mean := make([]float64, dim)
	for i, v := range vectors {
		row := centred.RawRowView(i)
		for j, x := range vec.Normalise(nil, v) {
			row[j] = float64(x)
			mean[j] += row[j] / float64(len(vectors))
		}
	}
	for i := range vectors {
		row := centred.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return centred
}

// coordinates along one component. An eigenvector of X Xᵀ gives them up to the square root of its eigenvalue, one of
// Xᵀ X by projection.
func coordinates(centred *mat.Dense, direction mat.Vector, ofRows bool, value float64) *mat.VecDense {
	var along mat.VecDense
	if ofRows {
		along.ScaleVec(math.Sqrt(value), direction)
	} else {
		along.MulVec(centred, direction)
	}
	return &along
}

// place sets one coordinate of every point, the last one's positive.
func place(points [][2]float64, axis int, along *mat.VecDense) {
	sign := 1.0
	if along.AtVec(len(points)-1) < 0 {
		sign = -1
	}
	for i := range points {
		points[i][axis] = sign * along.AtVec(i)
	}
}
