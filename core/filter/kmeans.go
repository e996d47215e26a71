package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// KMeansOptions are the parameters of the k-means filter. The zero value is the default.
type KMeansOptions struct {
	// Seed drives the choice of the first centres; the same seed and input give the same result.
	Seed uint64
	// Starts is how many times the centres are drawn anew; the tightest clustering counts. 0 means 10.
	Starts int
	// Rounds limits the rounds of a start. 0 means 300.
	Rounds int
	// Depth is how many candidates, from the first on, the filter looks at; the rest is dropped. 0 means
	// [DefaultDepth].
	Depth int
	// Protected holds indexes of candidates that are kept in any case.
	Protected []int
}

// Validate reports the first option outside its range, as [ErrOption].
func (o KMeansOptions) Validate() error {
	for _, check := range []struct {
		name  string
		value int
	}{{"starts", o.Starts}, {"rounds", o.Rounds}, {"depth", o.Depth}} {
		if check.value < 0 {
			return fmt.Errorf("core/filter: %w: %s %d", ErrOption, check.name, check.value)
		}
	}
	return nil
}

// withDefaults fills in the defaults.
func (o KMeansOptions) withDefaults() KMeansOptions {
	for _, option := range []struct {
		value     *int
		otherwise int
	}{{&o.Starts, 10}, {&o.Rounds, 300}, {&o.Depth, DefaultDepth}} {
		if *option.value == 0 {
			*option.value = option.otherwise
		}
	}
	return o
}

// KMeans filters the candidates of a similarity matrix, (n+1)×(n+1) row-major with the query as node 0, by k-means
// with two clusters over query and candidates: the candidates in the query's cluster stay. First centres are drawn
// by k-means++; then Lloyd's rounds until no node moves. Squared distances to centres are computed from the
// similarities, which is exact for unit vectors; vectors themselves are not needed.
//
// Errors: [ErrShape], [ErrNotFinite], [ErrSimilarity], [ErrOption].
func KMeans(similarity []float64, options KMeansOptions) (Result, error) {
	var r Result
	if err := options.Validate(); err != nil {
		return r, err
	}
	nodes, err := countNodes(similarity)
	if err != nil {
		return r, err
	}
	if err := checkProtected(options.Protected, nodes-1); err != nil {
		return r, err
	}
	options = options.withDefaults()
	looked := min(options.Depth, nodes-1)
	if looked < 2 {
		r.keepAll(looked, nodes-1, options.Protected, ReasonTooFew)
		return r, nil
	}
	best := bestClustering(similarity, nodes, looked+1, options)
	r.Iterations = best.rounds
	stays := make([]bool, looked)
	for i := range stays {
		stays[i] = best.second[i+1] == best.second[0]
		r.QueryLengths = append(r.QueryLengths, math.Sqrt(best.distance(i+1, best.second[0])))
		community := 1
		if stays[i] {
			community = 0
		}
		r.Communities = append(r.Communities, community)
	}
	r.decide(stays, nodes-1, options.Protected)
	return r, nil
}

// clustering assigns each node to the first or the second of two clusters.
type clustering struct {
	similarity []float64
	stride     int
	second     []bool
	// toMembers[c][i] is the mean similarity of node i to the members of cluster c (0 first, 1 second), and
	// within[c] the mean over the pairs of its members, which is the squared norm of its centre.
	toMembers [2][]float64
	within    [2]float64
	rounds    int
}

func bestClustering(similarity []float64, stride, nodes int, options KMeansOptions) *clustering {
	random := rand.New(rand.NewPCG(options.Seed, 0))
	var best *clustering
	tightest := math.Inf(1)
	for range options.Starts {
		c := &clustering{similarity: similarity, stride: stride, second: make([]bool, nodes)}
		c.seed(random)
		for c.rounds < options.Rounds && c.round() {
			c.rounds++
		}
		// Equally tight starts differ by rounding; the first one wins whatever it is.
		if spread := c.spread(); spread < tightest-1e-9 {
			best, tightest = c, spread
		}
	}
	return best
}

// apart is the squared distance of two nodes, from unit vectors.
func (c *clustering) apart(i, j int) float64 { return max(0, 2-2*c.similarity[i*c.stride+j]) }

// seed draws two nodes as first centres: one at random, the other with probability proportional to its squared
// distance from the first (k-means++), and puts each node with the nearer. Identical nodes stay one cluster.
func (c *clustering) seed(random *rand.Rand) {
	first := random.IntN(len(c.second))
	total := 0.0
	for i := range c.second {
		total += c.apart(i, first)
	}
	left, other := random.Float64()*total, first
	for i := range c.second {
		if d := c.apart(i, first); d > 0 && left >= 0 {
			other = i
			left -= d
		}
	}
	for i := range c.second {
		c.second[i] = c.apart(i, other) < c.apart(i, first)
	}
	c.centre()
}

// round moves each node to the nearer centre, computes the centres anew, and tells whether any node moved.
func (c *clustering) round() (moved bool) {
	for i, second := range c.second {
		here, there := c.distance(i, second), c.distance(i, !second)
		if there < here-1e-12 {
			c.second[i], moved = !second, true
		}
	}
	if moved {
		c.centre()
	}
	return moved
}

// centre computes the means over members.
func (c *clustering) centre() {
	for cluster := range c.toMembers {
		c.toMembers[cluster] = slices.Grow(c.toMembers[cluster][:0], len(c.second))[:len(c.second)]
		members := 0.0
		for _, second := range c.second {
			if second == (cluster == 1) {
				members++
			}
		}
		c.within[cluster] = 0
		for i, second := range c.second {
			sum := 0.0
			for j, other := range c.second {
				if other == (cluster == 1) {
					sum += c.cosine(i, j)
				}
			}
			c.toMembers[cluster][i] = sum / members
			if second == (cluster == 1) {
				c.within[cluster] += sum / members / members
			}
		}
	}
}

// cosine is the similarity with the diagonal at exactly 1, which rounding and float32 vectors miss.
func (c *clustering) cosine(i, j int) float64 {
	if i == j {
		return 1
	}
	return c.similarity[i*c.stride+j]
}

// distance is the squared distance of node i to the centre of a cluster; NaN, nearer than nothing, where the cluster
// is empty.
func (c *clustering) distance(i int, second bool) float64 {
	cluster := 0
	if second {
		cluster = 1
	}
	return max(0, 1-2*c.toMembers[cluster][i]+c.within[cluster])
}

// spread is the sum of the squared distances to the centres.
func (c *clustering) spread() (sum float64) {
	for i, second := range c.second {
		sum += c.distance(i, second)
	}
	return sum
}
