package ot

// The passes over a column-major kernel (column j at k[j·stride]) that every solve is made of. Each exists as
// portable Go here and as AVX2 code on amd64. Both add in the same order (rows i ≡ l mod 4 share lane l, lanes are
// added pairwise at the end) and neither fuses a product with a sum, so their results agree bit for bit. The
// explicit float64 conversions forbid the compiler that fusion.

// scalePassGo computes u_i = p_i / Σ_j k_ij·v_j and adds k_ij·u_i to lane i mod 4 of column j, sum[4j:4j+4].
func scalePassGo(sum, u, k, p, v []float64) {
	stride := len(p)
	u = u[:stride]
	for i := 0; i+lanes <= stride; i += lanes {
		var r0, r1, r2, r3 float64
		at := i
		for _, vj := range v {
			c := k[at : at+lanes : at+lanes]
			r0 += float64(c[0] * vj)
			r1 += float64(c[1] * vj)
			r2 += float64(c[2] * vj)
			r3 += float64(c[3] * vj)
			at += stride
		}
		pi := p[i : i+lanes : i+lanes]
		u0, u1, u2, u3 := pi[0]/r0, pi[1]/r1, pi[2]/r2, pi[3]/r3
		ui := u[i : i+lanes : i+lanes]
		ui[0], ui[1], ui[2], ui[3] = u0, u1, u2, u3
		at = i
		for s := sum[:lanes*len(v)]; len(s) >= lanes; s = s[lanes:] {
			c := k[at : at+lanes : at+lanes]
			s[0] += float64(c[0] * u0)
			s[1] += float64(c[1] * u1)
			s[2] += float64(c[2] * u2)
			s[3] += float64(c[3] * u3)
			at += stride
		}
	}
}

// momentPassGo computes the row softmin q_ij = k_ij·v_j / Σ_l k_il·v_l and adds, lane by lane, the masses p_i·q_ij to
// sum[4j:4j+4], j < s, followed by the pair moments p_i·q_ij·q_il, j < l, in the order (0,1), (0,2), …, (s-2,s-1).
// q is scratch of length 4s.
func momentPassGo(sum, q, k, p, v []float64) {
	stride := len(p)
	q = q[:lanes*len(v)]
	for i := 0; i+lanes <= stride; i += lanes {
		var r0, r1, r2, r3 float64
		at, qs := i, q
		for _, vj := range v {
			c := k[at : at+lanes : at+lanes]
			t := qs[:lanes:lanes]
			t[0], t[1], t[2], t[3] = c[0]*vj, c[1]*vj, c[2]*vj, c[3]*vj
			r0, r1, r2, r3 = r0+t[0], r1+t[1], r2+t[2], r3+t[3]
			at, qs = at+stride, qs[lanes:]
		}
		w0, w1, w2, w3 := 1/r0, 1/r1, 1/r2, 1/r3
		for t := q; len(t) >= lanes; t = t[lanes:] {
			t[0], t[1], t[2], t[3] = t[0]*w0, t[1]*w1, t[2]*w2, t[3]*w3
		}
		pi := p[i : i+lanes : i+lanes]
		pairs := sum[len(q):]
		for j := 0; j < len(q); j += lanes {
			t, m := q[j:j+lanes:j+lanes], sum[j:j+lanes:j+lanes]
			m0, m1, m2, m3 := t[0]*pi[0], t[1]*pi[1], t[2]*pi[2], t[3]*pi[3]
			m[0], m[1], m[2], m[3] = m[0]+m0, m[1]+m1, m[2]+m2, m[3]+m3
			for t := q[j+lanes:]; len(t) >= lanes; t = t[lanes:] {
				a := pairs[:lanes:lanes]
				a[0] += float64(m0 * t[0])
				a[1] += float64(m1 * t[1])
				a[2] += float64(m2 * t[2])
				a[3] += float64(m3 * t[3])
				pairs = pairs[lanes:]
			}
		}
	}
}

// addLanes returns the total of the four lanes of sum item j.
func addLanes(sum []float64, j int) float64 {
	s := sum[lanes*j : lanes*j+lanes : lanes*j+lanes]
	return (s[0] + s[1]) + (s[2] + s[3])
}
