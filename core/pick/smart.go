package pick

import (
	"context"
	"fmt"
	"math"
)

// SmartOptions are the parameters of selector "smart", SMART-RAG (Li, Hu and Wan 2024, arXiv 2409.13992): greedy
// maximum a posteriori inference for a determinantal point process whose kernel joins relevance, similarity and
// conflict,
//
//	L = Diag(r)·(K ∘ exp(−Gamma·(1−C)))·Diag(r),  C_ij = ½·(P(i contradicts j) + P(j contradicts i)),
//
// r_i = cos(c_i,Q), K_ij = cos(c_i,c_j), ∘ entry by entry. Two passages that contradict each other (C near 1) keep
// their full similarity and so compete; for others it is damped. C_ii = K_ii = 1, because a passage competes fully
// with itself. r below 0 is taken as 0: its square would make an opposite passage relevant. The published rule that
// weighs relevance against diversity was not accessible and is left out.
//
// The selector needs [Problem.Conflict] and returns [ErrNeeds] without it. Places that the determinant cannot decide
// go by relevance, and the result says so.
type SmartOptions struct {
	// Gamma ≥ 0 is how strongly the absence of conflict damps similarity; 0 leaves conflict out.
	Gamma float64 `koanf:"gamma"`
	// Pool is how many of the passages nearest to the query take part (at least k do): the model is asked for
	// every ordered pair of them.
	Pool int `koanf:"pool"`
}

// Validate reports a field out of range.
func (o SmartOptions) Validate() error {
	if !(o.Gamma >= 0 && o.Gamma <= 1e3) {
		return fmt.Errorf("core/pick: %w: smart.gamma is %v, want a value in [0,1000]", ErrOption, o.Gamma)
	}
	if o.Pool < 1 {
		return fmt.Errorf("core/pick: %w: smart.pool is %d, want at least 1", ErrOption, o.Pool)
	}
	return nil
}

type smart struct {
	o       SmartOptions
	columns columns
	factor  cholesky
	gain    []float64
	kernel  []float64
	pool    []int
	damping []float64 // exp(−Gamma·(1−C)) among the pool, row after row
}

func (m *smart) run(ctx context.Context, p *Problem, k int, r *Result) error {
	r.Mode = "smart"
	if err := m.prepare(ctx, p, k); err != nil {
		return err
	}
	for len(r.Steps) < k {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.score(p)
		if winner(m.gain, 0) < 0 {
			return fillDeterminant(ctx, p, m.gain, k, r)
		}
		s := take(m.gain, tieTolerance, RuleGain)
		r.Steps = append(r.Steps, s)
		m.factor.add(s.Row, m.kernelColumn(p, s.Row))
	}
	return nil
}

// prepare picks the pool and asks for its conflicts.
func (m *smart) prepare(ctx context.Context, p *Problem, k int) error {
	n := p.Len()
	m.columns.reset(p.Similarity)
	m.factor.reset(n, k)
	m.gain, m.kernel = rows(m.gain, n), rows(m.kernel, n)
	clear(m.factor.residual)
	copy(m.gain, p.Query)
	m.pool = m.pool[:0]
	for range min(n, max(k, m.o.Pool)) {
		row := take(m.gain, tieTolerance, RuleRank).Row
		m.pool = append(m.pool, row)
		relevance := max(0, p.Query[row])
		m.factor.residual[row] = relevance * relevance
	}
	for i := range m.gain {
		m.gain[i] = out
	}
	for _, row := range m.pool {
		m.gain[row] = 0
	}
	return m.askConflicts(ctx, p)
}

func (m *smart) askConflicts(ctx context.Context, p *Problem) error {
	if p.Conflict == nil {
		return fmt.Errorf("core/pick: smart %w: no conflict model", ErrNeeds)
	}
	size := len(m.pool)
	pairs := make([][2]int, 0, size*(size-1))
	for a := range m.pool {
		for b := range a {
			pairs = append(pairs, [2]int{m.pool[a], m.pool[b]}, [2]int{m.pool[b], m.pool[a]})
		}
	}
	conflict, err := p.Conflict(ctx, pairs)
	if err != nil {
		return fmt.Errorf("core/pick: smart: %w", err)
	}
	if len(conflict) != len(pairs) {
		return fmt.Errorf("core/pick: %w: conflict model answered %d of %d pairs", ErrShape, len(conflict), len(pairs))
	}
	for i, c := range conflict {
		if !(c >= 0 && c <= 1) {
			return fmt.Errorf("core/pick: %w: conflict of pair %v is %v, want a value in [0,1]", ErrValue, pairs[i], c)
		}
	}
	m.damping = rows(m.damping, size*size)
	for a, at := 0, 0; a < size; a++ {
		m.damping[a*size+a] = 1
		for b := range a {
			both := (conflict[at] + conflict[at+1]) / 2
			at += 2
			damping := math.Exp(-m.o.Gamma * (1 - both))
			m.damping[a*size+b], m.damping[b*size+a] = damping, damping
		}
	}
	return nil
}

// score sets the gain of every row to the logarithm of the factor by which it multiplies the determinant.
func (m *smart) score(p *Problem) {
	for i, left := range m.factor.residual {
		switch relevance := max(0, p.Query[i]); {
		case m.gain[i] == out:
		case left <= residualFloor*relevance*relevance:
			m.gain[i] = out
		default:
			m.gain[i] = math.Log(left)
		}
	}
}

// kernelColumn is the column of L that belongs to a row of the pool; entries outside the pool are 0.
func (m *smart) kernelColumn(p *Problem, row int) []float64 {
	clear(m.kernel)
	size := len(m.pool)
	column := m.columns.at(row)
	b := 0
	for m.pool[b] != row {
		b++
	}
	for a, i := range m.pool {
		m.kernel[i] = max(0, p.Query[i]) * column[i] * m.damping[a*size+b] * max(0, p.Query[row])
	}
	return m.kernel
}
