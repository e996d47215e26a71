//go:build !amd64 || noasm

package flat

const accelerated = false

func laneSums(*[groupSize * lanes]float64, []float32, []float64, int) {
	panic("adapters/flat: lane sums without acceleration")
}
