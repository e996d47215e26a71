package pick

// queue holds rows as a binary heap, the one of largest gain on top. Gains may only fall, and only the top's.
type queue struct {
	gain []float64
	heap []int32
}

// fill puts in every row that is not out.
func (q *queue) fill(gain []float64) {
	q.gain, q.heap = gain, q.heap[:0]
	for row, g := range gain {
		if g != out {
			q.heap = append(q.heap, int32(row))
		}
	}
	for at := len(q.heap)/2 - 1; at >= 0; at-- {
		q.sink(at)
	}
}

func (q *queue) len() int { return len(q.heap) }

func (q *queue) top() int { return int(q.heap[0]) }

// lowered restores the order after the gain of the top has fallen.
func (q *queue) lowered() { q.sink(0) }

func (q *queue) pop() {
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink(0)
}

func (q *queue) sink(at int) {
	for {
		child := 2*at + 1
		if child >= len(q.heap) {
			return
		}
		if right := child + 1; right < len(q.heap) && q.gain[q.heap[right]] > q.gain[q.heap[child]] {
			child = right
		}
		if q.gain[q.heap[at]] >= q.gain[q.heap[child]] {
			return
		}
		q.heap[at], q.heap[child] = q.heap[child], q.heap[at]
		at = child
	}
}
