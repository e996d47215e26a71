package flat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/x448/float16"
	"pgregory.net/rapid"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// TestProductsAreThoseOfDot: the accelerated products equal vec.Dot bit for bit, so that no processor changes a
// ranking.
func TestProductsAreThoseOfDot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		number := rapid.Float32Range(-1e30, 1e30)
		vectors := func(name string, most int) [][]float32 {
			return rapid.SliceOfN(rapid.SliceOfN(number, dim, dim), 1, most).Draw(t, name)
		}
		var searches []search
		for _, q := range vectors("queries", 9) {
			searches = append(searches, search{vector: q})
		}
		b := newBlock(dim, len(searches))
		b.vectors = vectors("rows", 4)
		productsWith(searches)(b)
		for q, search := range searches {
			for i, v := range b.vectors {
				if got, want := b.scores[q*blockRows+i], vec.Dot(v, search.vector); math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("row %d, query %d: %v, want %v", i, q, got, want)
				}
			}
		}
	})
}

// many is a folder of n passages whose vectors take few values, so that scores are often equal; their IDs are in no
// order. Every seventh row is not finite and every eleventh is zero.
func many(n, dim int, half bool) fstest.MapFS {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	var lines, data bytes.Buffer
	for i := range n {
		fmt.Fprintf(&lines, `{"id":%d,"group":%d}`+"\n", (i*7919)%n, i%3)
		for j := range dim {
			x := float32(rng.IntN(3) - 1)
			switch {
			case i%7 == 6 && j == 0:
				x = float32(math.NaN())
			case i%11 == 10:
				x = 0
			}
			if half {
				_ = binary.Write(&data, binary.LittleEndian, float16.Fromfloat32(x).Bits())
			} else {
				_ = binary.Write(&data, binary.LittleEndian, x)
			}
		}
	}
	kind := map[bool]string{false: "<f4", true: "<f2"}[half]
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", kind, n, dim)
	file := slices.Concat([]byte("\x93NUMPY\x01\x00"), []byte{byte(len(head)), 0}, []byte(head), data.Bytes())
	return fstest.MapFS{"passages.jsonl": {Data: lines.Bytes()}, "passages.npy": {Data: file}}
}

// TestSearchIsExact compares every metric and both stored types with sorting all passages by their scores.
func TestSearchIsExact(t *testing.T) {
	const n, dim = 500, 19
	for _, metric := range metrics {
		for _, half := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, half %v", metric, half), func(t *testing.T) {
				s, err := OpenFS(many(n, dim, half), ".", Config{Metric: metric})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				req := request(dim, 6, n)
				result, err := s.Search(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				checkExact(t, s, req.Vector, result.Candidates, req.K)
				for j, sub := range result.SubQueries {
					checkExact(t, s, req.SubQueries[j], sub.Hits, req.Depth)
				}
			})
		}
	}
}

func request(dim, m, k int) core.SearchRequest {
	rng := rand.New(rand.NewPCG(5, 5))
	req := core.SearchRequest{K: k, Depth: 20}
	for j := range m + 1 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.IntN(5)-2) / 2
		}
		if j == 0 {
			req.Vector = v
			continue
		}
		req.SubQueries = append(req.SubQueries, v)
	}
	return req
}

func checkExact(t *testing.T, s *Store, query []float32, got []core.Candidate, k int) {
	t.Helper()
	var all []core.Candidate
	for row, id := range s.ids {
		all = append(all, core.Candidate{ID: id, Score: finite(plainScore(s.metric, query, s.view(make([]float32, s.dim), int32(row))))})
	}
	slices.SortFunc(all, func(a, b core.Candidate) int {
		if a.Score != b.Score {
			return map[bool]int{true: -1, false: 1}[a.Score > b.Score]
		}
		return core.CompareID(a.ID, b.ID)
	})
	if len(got) != min(k, len(all)) {
		t.Fatalf("%d hits, want %d", len(got), min(k, len(all)))
	}
	for r, g := range got {
		if g.ID != all[r].ID || g.Score != all[r].Score {
			t.Fatalf("rank %d: id %v (%v), want %v (%v)", r, g.ID, g.Score, all[r].ID, all[r].Score)
		}
	}
}

func plainScore(metric core.Metric, a, b []float32) float64 {
	switch metric {
	case core.MetricCosine:
		return vec.Cosine(a, b)
	case core.MetricEuclidean:
		return -math.Sqrt(squaredDistance(a, b))
	case core.MetricManhattan:
		return -absoluteDistance(a, b)
	default:
		return vec.Dot(a, b)
	}
}

// TestAnswersDoNotDependOnProcessors gives the search enough work for several goroutines.
func TestAnswersDoNotDependOnProcessors(t *testing.T) {
	const n, dim = 6000, 72
	s, err := OpenFS(many(n, dim, false), ".", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	req := request(dim, 10, 100)
	if enough := n * 11 * dim / workerProducts; enough < 2 {
		t.Fatalf("%d goroutines are no test", 1+enough)
	}
	for _, filter := range []string{"", "group!=1"} {
		req.Scope.Filter = filter
		var want core.SearchResult
		for _, processors := range []int{1, 2, 3, 8} {
			before := runtime.GOMAXPROCS(processors)
			got, err := s.Search(t.Context(), req)
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			got.Calls = nil // durations differ
			if processors == 1 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("filter %q: another answer with %d processors", filter, processors)
			}
		}
	}
}

// TestWhatAStoreReturnsOutlivesIt: nothing in an answer lies in the mapped files.
func TestWhatAStoreReturnsOutlivesIt(t *testing.T) {
	dir := folderOf(t, map[string][]byte{linesFile: []byte("{\"id\":1,\"t\":\"a\"}\n"), vectorsFile: matrix(1, 3)})
	s := mustOpen(t, Config{Dir: dir})
	result, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0}, K: 1})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if c := result.Candidates[0]; !slices.Equal(c.Vector, []float32{1, 2, 3}) || c.Payload["t"] != "a" {
		t.Errorf("candidate %+v", c)
	}
}

func TestUnsupportedScopes(t *testing.T) {
	s := mustOpen(t, Config{Dir: folderOf(t, map[string][]byte{linesFile: []byte("{\"id\":1}\n"), vectorsFile: matrix(1, 3)})})
	defer s.Close()
	for _, c := range []struct {
		scope core.Scope
		err   error
	}{
		{core.Scope{Partitions: []string{"a"}}, core.ErrUnsupported},
		{core.Scope{VectorName: vectorName, Consistency: "strong"}, nil},
	} {
		_, err := s.Search(t.Context(), core.SearchRequest{Vector: []float32{1, 0, 0}, K: 1, Scope: c.scope})
		if !errors.Is(err, c.err) {
			t.Errorf("%+v: error is %v, want %v", c.scope, err, c.err)
		}
	}
}

// TestScanKeepsNothing: what a scan has yielded can be collected, so that its memory does not grow with the index.
func TestScanKeepsNothing(t *testing.T) {
	const n, dim = 4000, 256
	store, err := OpenFS(many(n, dim, false), ".", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before, after uint64
	row := 0
	err = store.Scan(t.Context(), core.Scope{}, 0, func(core.Candidate) bool {
		switch row++; row {
		case 100:
			before = live()
		case n - 100:
			after = live()
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if vectors := uint64(n * dim * 4); after > before+vectors/4 {
		t.Errorf("the heap grew from %d to %d bytes over a scan of %d bytes of vectors", before, after, vectors)
	}
}
