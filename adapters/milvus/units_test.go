package milvus

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/secret"
)

func TestValidate(t *testing.T) {
	valid := Config{Addr: "localhost:19530", Collection: "docs"}
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for names, change := range map[string]func(*Config){
		"addr":              func(c *Config) { c.Addr = "" },
		"collection":        func(c *Config) { c.Collection = "" },
		"consistency":       func(c *Config) { c.Consistency = "mostly" },
		"search.ef":         func(c *Config) { c.Search.EF = -1 },
		"search.nprobe":     func(c *Config) { c.Search.NProbe = -1 },
		"rrf_k":             func(c *Config) { c.RRFK = math.NaN() },
		"outside_vectors":   func(c *Config) { c.OutsideVectors = "both" },
		"write_timeout":     func(c *Config) { c.WriteTimeout = -1 },
		"max_message_bytes": func(c *Config) { c.MaxMessageBytes = -1 },
		"tls.cert_file":     func(c *Config) { c.TLS.KeyFile = "key.pem" },
		"username":          func(c *Config) { c.Username = "root" },
		"api_key_env":       func(c *Config) { c.Source = secret.Source{Env: "A", File: "b"} },
		"timeout":           func(c *Config) { c.Timeout = -1 },
		"a b":               func(c *Config) { c.TenantField = "a b" },
		"x == 1 || true":    func(c *Config) { c.HybridFields = []string{"x == 1 || true"} },
		".*":                func(c *Config) { c.Partitions = []string{".*"} },
	} {
		cfg := valid
		change(&cfg)
		if err := cfg.Validate(); !errors.Is(err, core.ErrInvalid) || !strings.Contains(err.Error(), names) {
			t.Errorf("error %v is no %v that names %s", err, core.ErrInvalid, names)
		}
	}
}

func TestSearchParams(t *testing.T) {
	for _, c := range []struct {
		params SearchParams
		index  index
		limit  int
		name   string
		want   any
	}{
		{SearchParams{}, index{kind: "HNSW"}, 10, "ef", 512},
		{SearchParams{}, index{kind: "HNSW"}, 200, "ef", 800},
		{SearchParams{EF: 64}, index{kind: "HNSW"}, 20, "ef", 64},
		{SearchParams{EF: 64}, index{kind: "HNSW"}, 200, "ef", 200}, // Milvus refuses fewer than the results
		{SearchParams{EF: 64}, index{kind: "FLAT"}, 200, "ef", nil},
		{SearchParams{}, index{kind: "IVF_FLAT"}, 20, "nprobe", 32},
		{SearchParams{NProbe: 64}, index{kind: "IVF_SQ8", params: map[string]string{"nlist": "16"}}, 20, "nprobe", 16},
		{SearchParams{NProbe: 9}, index{kind: "SCANN"}, 20, "nprobe", 9},
		{SearchParams{Extra: map[string]any{"search_list": 50}}, index{kind: "DISKANN"}, 20, "search_list", 50},
	} {
		if got := c.params.params(c.index, c.limit)[c.name]; got != c.want {
			t.Errorf("%+v on %s, limit %d: %s is %v, want %v", c.params, c.index.kind, c.limit, c.name, got, c.want)
		}
	}
}

func TestHigherIsBetter(t *testing.T) {
	if got := higherIsBetter("L2", 9); got != -3 {
		t.Errorf("L2 of squared distance 9 is %v, want -3", got)
	}
	if got := higherIsBetter("L2", -1e-7); got != 0 || math.IsNaN(got) {
		t.Errorf("L2 of a rounded zero is %v", got)
	}
	for _, metric := range []string{"IP", "COSINE"} {
		if got := higherIsBetter(metric, -0.25); got != -0.25 {
			t.Errorf("%s is converted to %v", metric, got)
		}
	}
}

// FuzzFilter requires that a filter stays within its parentheses: an accepted one closes what it opens, and nothing
// of the tenant's condition can be undone by it.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"year > 3", `a == "x)" and b in [1,2]`, ") || (true", `"`, `'a\'' == b`, "((", `t == "\\"`, "[)", "a\"\n\" || \""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filter string) {
		if checkFilter(filter) != nil {
			return
		}
		depth, joined := 0, and(`tenant == "a"`, filter)
		for i := 0; i < len(joined); i++ {
			switch joined[i] {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth--
			case '"', '\'':
				i = literalEnd(joined, i)
				if i < 0 {
					t.Fatalf("%q: an open string", joined)
				}
			}
			if depth < 0 {
				t.Fatalf("%q: closes more than it opens", joined)
			}
		}
		if depth != 0 {
			t.Fatalf("%q: %d left open", joined, depth)
		}
	})
}

func TestQuoteStaysOneLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		literal, err := quote(text)
		if err != nil {
			t.Fatal(err)
		}
		if end := literalEnd(literal, 0); end != len(literal)-1 {
			t.Fatalf("%q ends at %d of %d", literal, end, len(literal))
		}
	})
	if _, err := quote("\xff"); !errors.Is(err, core.ErrInvalid) {
		t.Errorf("quote of no UTF-8: %v", err)
	}
}

func TestKeyConditions(t *testing.T) {
	number, text := field{name: "id", kind: kindInt64}, field{name: "id", kind: kindVarchar}
	for _, c := range []struct {
		key  field
		ids  []core.ID
		want string
	}{
		{number, []core.ID{core.IntID(1<<53 + 1), core.IntID(-7)}, "id in [9007199254740993, -7]"},
		{number, []core.ID{core.IntID(math.MinInt64)}, "id < -9223372036854775807"},
		{number, []core.ID{core.IntID(1), core.IntID(math.MinInt64)}, "(id in [1]) || (id < -9223372036854775807)"},
		{number, []core.ID{core.StringID("1"), core.UintID(math.MaxUint64)}, ""},
		{text, []core.ID{core.StringID(`a"b`), core.IntID(1)}, `id in ["a\"b"]`},
	} {
		if got, err := idExpr(c.key, c.ids); got != c.want || err != nil {
			t.Errorf("%v: %q, error %v; want %q", c.ids, got, err, c.want)
		}
	}
	for after, want := range map[core.ID]string{
		{}:                          "",
		core.IntID(5):               "id > 5",
		core.IntID(math.MinInt64):   "id >= -9223372036854775807",
		core.StringID(`back\slash`): `id > "back\\slash"`,
	} {
		if got, err := keysAbove(number, after); got != want || err != nil {
			t.Errorf("above %v: %q, error %v; want %q", after, got, err, want)
		}
	}
}

// TestHalfPrecision holds the conversions to half a unit in the last place, and to values that fit exactly.
func TestHalfPrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := float32(rapid.Float64Range(-60000, 60000).Draw(t, "x"))
		for name, c := range map[string]struct {
			back     float32
			relative float64
		}{
			"float16":  {decodeFloat16(encodeFloat16([]float32{x}))[0], 1.0 / (1 << 11)},
			"bfloat16": {decodeBFloat16(encodeBFloat16([]float32{x}))[0], 1.0 / (1 << 8)},
		} {
			const smallest = 1.0 / (1 << 24) // of float16's subnormals
			if diff := math.Abs(float64(c.back) - float64(x)); diff > math.Abs(float64(x))*c.relative+smallest/2 {
				t.Fatalf("%s: %v became %v", name, x, c.back)
			}
			again := map[string]float32{
				"float16":  decodeFloat16(encodeFloat16([]float32{c.back}))[0],
				"bfloat16": decodeBFloat16(encodeBFloat16([]float32{c.back}))[0],
			}[name]
			if again != c.back {
				t.Fatalf("%s: %v became %v at the second turn", name, c.back, again)
			}
		}
	})
}

func TestDecodeJSONKeepsDigits(t *testing.T) {
	got, err := decodeJSON([]byte(`{"n": 9007199254740993, "f": 0.5, "big": 123456789012345678901234567890, "l": [-9223372036854775808]}`))
	if err != nil {
		t.Fatal(err)
	}
	fields := got.(map[string]any)
	if fields["n"] != int64(1<<53+1) || fields["f"] != 0.5 || fields["l"].([]any)[0] != int64(math.MinInt64) {
		t.Errorf("decoded %v", fields)
	}
	if data := fields["big"]; data == nil || data == 1.2345678901234568e29 {
		t.Errorf("the integer beyond int64 became %v", data)
	}
}

func TestBatches(t *testing.T) {
	passages := randomPassages(batchRows+10, 1)
	cut := batches(passages)
	if len(cut) != 2 || len(cut[0]) != batchRows || len(cut[1]) != 10 {
		t.Errorf("%d batches", len(cut))
	}
	large := []core.Candidate{{Vector: make([]float32, batchBytes/4)}, {Vector: make([]float32, batchBytes/4)}, {Vector: make([]float32, 1)}}
	if cut := batches(large); len(cut) != 3 {
		t.Errorf("%d batches of large rows, want 3", len(cut))
	}
}
