package pick

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
)

// patience is a context that ends after it has been asked a number of times.
type patience struct {
	context.Context
	left int
}

func (p *patience) Err() error {
	if p.left--; p.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// counting counts the columns that were computed.
type counting struct {
	Similarity
	columns int
}

func (c *counting) Column(dst []float64, j int) []float64 {
	c.columns++
	return c.Similarity.Column(dst, j)
}

// TestDeadlineEndsAStep: a step over many candidates looks at the context as it goes, not only before it.
func TestDeadlineEndsAStep(t *testing.T) {
	const n = 400
	r := rand.New(rand.NewPCG(21, 22))
	dense, err := NewDense(n, randomCosines(r, n, 8))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"georag", "facility"} {
		similarity := &counting{Similarity: dense}
		problem := &Problem{Similarity: similarity, Query: dense.View(0), Demand: randomDemand(r, n)}
		selector, err := New(name, DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		_, err = selector.Select(&patience{Context: t.Context(), left: 20}, problem, 5)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: error %v", name, err)
		}
		if similarity.columns > 40 {
			t.Errorf("%s: %d columns were computed after the context had ended", name, similarity.columns)
		}
	}
}
