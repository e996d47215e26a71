package flat

import "github.com/georag/georag/core/vec"

const (
	// groupSize queries share one reading of a row.
	groupSize = 4
	// lanes are the independent sums of [vec.Dot], which the products repeat exactly.
	lanes = 8
)

// products computes inner products of rows with all searches, each bit for bit that of [vec.Dot]: every product
// of two float32 is exact in float64, and lanes are added in the same order.
type products struct {
	searches []search
	packed   []float64 // the queries' first whole lanes, in float64, query after query, up to a whole group
	width    int       // components of a query in packed: a multiple of lanes
}

func newProducts(searches []search) *products {
	p := &products{searches: searches, width: len(searches[0].vector) / lanes * lanes}
	if !accelerated || p.width == 0 {
		return p
	}
	groups := (len(searches) + groupSize - 1) / groupSize
	p.packed = make([]float64, groups*groupSize*p.width)
	for q, search := range searches {
		for i, x := range search.vector[:p.width] {
			p.packed[q*p.width+i] = float64(x)
		}
	}
	return p
}

func (p *products) compute(b *block) {
	if p.packed == nil {
		for q, search := range p.searches {
			for i, v := range b.vectors {
				b.scores[q*blockRows+i] = vec.Dot(v, search.vector)
			}
		}
		return
	}
	var sums [groupSize * lanes]float64
	for first := 0; first < len(p.searches); first += groupSize {
		group := p.packed[first*p.width : (first+groupSize)*p.width]
		for i, v := range b.vectors {
			laneSums(&sums, v, group, p.width)
			for q := first; q < min(first+groupSize, len(p.searches)); q++ {
				b.scores[q*blockRows+i] = p.total(sums[(q-first)*lanes:], v, p.searches[q].vector)
			}
		}
	}
}

// total adds the components beyond the last whole lanes and then the lanes, in the order of [vec.Dot].
func (p *products) total(s []float64, row, query []float32) float64 {
	_ = s[lanes-1]
	first := s[0]
	for i := p.width; i < len(row); i++ {
		first += float64(row[i]) * float64(query[i])
	}
	return ((first + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
