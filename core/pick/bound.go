package pick

// bounds gives upper bounds of ΔW for the converged mode. Every plan whose row marginals are P moves each candidate's
// mass at least to the nearest selected passage, hence
//
//	W(S∪c) ≥ Σ_i P_i·min_{s∈S∪c} M_is  and  ΔW ≤ W(S) − Σ_i P_i·(1 − b_i) + Σ_i P_i·max(0, cos(c_i,c) − b_i),
//
// with b_i = max_{s∈S} cos(c_i,s). The last sum, the rise, can only fall as S grows, so one of an earlier step still
// bounds; and it is at most the nearest-server cost of S, which needs no column of c at all. The plans of the
// published mode miss their row marginals and may cost less: these bounds do not hold there.
type bounds struct {
	cover  cover
	rise   []float64 // upper bound of each candidate's rise
	server float64   // Σ_i P_i·(1 − b_i), the nearest-server cost of S
}

func (b *bounds) reset(demand []float64) {
	b.cover.reset(demand)
	b.rise = rows(b.rise, len(demand))
	for c := range b.rise {
		b.cover.best[c], b.rise[c] = -1, 2
	}
	b.server = 2
}

// add puts the passage whose cosines are given into S.
func (b *bounds) add(column []float64) {
	b.cover.add(column)
	b.server = 0
	for i, x := range b.cover.best {
		b.server += b.cover.demand[i] * (1 - x)
	}
}

// guess bounds ΔW of candidate c at W(S) = w by what is known already.
func (b *bounds) guess(c int, w float64) float64 { return w - b.server + min(b.rise[c], b.server) }

// sharpen bounds ΔW of candidate c by its own column.
func (b *bounds) sharpen(c int, column []float64, w float64) float64 {
	b.rise[c] = b.cover.gain(column)
	return w - b.server + b.rise[c]
}
