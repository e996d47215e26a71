package ot

// laplacian solves L·x = b in place for the weighted graph Laplacian L of s nodes, L_jl = -w_jl off the diagonal and
// L_jj = Σ_l w_jl, with x_{s-1} = 0. weight holds w_jl for j < l in the order (0,1), (0,2), …, (s-2,s-1) and is
// overwritten; the entries of b sum to zero. It reports whether the graph was connected.
//
// Eliminating node j turns its star of edges into a mesh between its neighbours (w_lm += w_jl·w_jm/Σ_l w_jl): only
// sums, products and quotients of non-negative numbers, so weights of very different size lose no digits. That is
// the case here: columns which compete for few passages hang together by weights like exp(-1/eps).
func laplacian(x, weight []float64) bool {
	s := len(x)
	at := 0
	for j := 0; j < s-1; j++ {
		edge := weight[at : at+s-1-j]
		rest := weight[at+len(edge):]
		var degree float64
		for _, w := range edge {
			degree += w
		}
		if !(degree > 0) {
			return false
		}
		pair := 0
		for l, w := range edge {
			share := w / degree
			x[j+1+l] += share * x[j]
			for _, other := range edge[l+1:] {
				rest[pair] += share * other
				pair++
			}
		}
		x[j] /= degree
		for l := range edge {
			edge[l] /= degree
		}
		at += len(edge)
	}
	x[s-1] = 0
	for j := s - 2; j >= 0; j-- {
		at -= s - 1 - j
		for l, share := range weight[at : at+s-1-j] {
			x[j] += share * x[j+1+l]
		}
	}
	return true
}
