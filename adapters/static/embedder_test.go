package static

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

func embed(t testing.TB, texts ...string) [][]float32 {
	t.Helper()
	vectors, err := open(t).EmbedPassages(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestEmbedderOrdersByMeaning(t *testing.T) {
	for _, c := range [][3]string{
		{"How do bees make honey?", "Nectar is collected by honeybees and stored in the hive.", "The parliament passed the budget."},
		{"capital city of France", "Paris is the seat of the French government.", "A capacitor stores electric charge."},
		{"doctor", "physician", "carpenter"},
		{"Who directed the film?", "The movie was directed by a young filmmaker.", "The bridge carries a railway."},
	} {
		v := embed(t, c[0], c[1], c[2])
		if near, far := vec.Cosine(v[0], v[1]), vec.Cosine(v[0], v[2]); near <= far {
			t.Errorf("%q is at %.3f from %q and at %.3f from %q", c[0], near, c[1], far, c[2])
		}
	}
}

func TestVectors(t *testing.T) {
	e := open(t)
	texts := []string{"one", "", "One!", "☃ ☃", "one one", "\xff"}
	queries, err := e.EmbedQueries(t.Context(), texts)
	if err != nil || len(queries) != len(texts) {
		t.Fatalf("%d vectors, error %v", len(queries), err)
	}
	passages := embed(t, texts...)
	for i, v := range queries {
		if !slices.Equal(v, passages[i]) {
			t.Errorf("%q: query and passage differ", texts[i])
		}
		if len(v) != e.Dimension() {
			t.Errorf("%q: %d components, want %d", texts[i], len(v), e.Dimension())
		}
		err, empty := vec.Check(v, e.Dimension()), i == 1 || i == 3 || i == 5
		if empty && !errors.Is(err, core.ErrZero) || !empty && (err != nil || math.Abs(vec.Norm(v)-1) > 1e-6) {
			t.Errorf("%q: norm %v, %v", texts[i], vec.Norm(v), err)
		}
	}
	if vec.Cosine(queries[0], queries[4]) < 1-1e-6 {
		t.Error("a word said twice points elsewhere")
	}
	if !strings.Contains(e.Model(), "static") || !strings.Contains(e.Model(), "all-MiniLM-L6-v2") {
		t.Errorf("model %q does not tell what it is", e.Model())
	}
}

func TestEmbedderStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t).EmbedQueries(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// tableOf writes a table as demo/distill does.
func tableOf(vocabulary string, dim int, scales []float32, data string) string {
	file := []byte(tableMagic)
	for _, n := range []int{len(scales), dim, len(vocabulary)} {
		file = binary.LittleEndian.AppendUint32(file, uint32(n))
	}
	file = append(file, vocabulary...)
	for _, s := range scales {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(s))
	}
	return string(append(file, data...))
}

func TestParseTable(t *testing.T) {
	table, err := parseTable(tableOf("[UNK]\na\n##b\n", 2, []float32{0, 0.5, 2}, "\x00\x00\x01\xff\x7f\x80"))
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]float64, 2)
	for _, row := range table.tokenizer.appendRows(nil, "ab x") {
		table.add(sum, row)
	}
	if want := []float64{0.5 + 254, -0.5 - 256}; !slices.Equal(sum, want) {
		t.Errorf("sum %v, want %v", sum, want)
	}
	nan := float32(math.NaN())
	for name, file := range map[string]string{
		"empty":            "",
		"other magic":      strings.Replace(tableOf("[UNK]\n", 1, []float32{1}, "a"), "1", "2", 1),
		"cut":              tableOf("[UNK]\na\n", 2, []float32{1, 1}, "abc"),
		"longer":           tableOf("[UNK]\na\n", 2, []float32{1, 1}, "abcde"),
		"no rows":          tableOf("", 2, nil, ""),
		"no [UNK]":         tableOf("a\n", 1, []float32{1}, "a"),
		"a token twice":    tableOf("[UNK]\na\na\n", 1, []float32{1, 1, 1}, "abc"),
		"too few tokens":   tableOf("[UNK]\n", 1, []float32{1, 1}, "ab"),
		"scale not finite": tableOf("[UNK]\n", 1, []float32{nan}, "a"),
		"negative scale":   tableOf("[UNK]\n", 1, []float32{-1}, "a"),
	} {
		if _, err := parseTable(file); !errors.Is(err, core.ErrInvalid) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestTheTableFits(t *testing.T) {
	if len(distilled) > 10_000_000 {
		t.Errorf("the table has %d bytes, at most 10 MB may go into the binary", len(distilled))
	}
}

func BenchmarkEmbed(b *testing.B) {
	e := open(b)
	text := strings.Repeat("The president who signed the Voting Rights Act studied at a teachers' college in Texas. ", 8)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := e.EmbedPassages(b.Context(), []string{text}); err != nil {
			b.Fatal(err)
		}
	}
}
