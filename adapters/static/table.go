package static

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/georag/georag/core"
)

// distilled is the table that demo/distill wrote: the magic, then rows, dimension and the vocabulary's length in
// bytes as uint32, the vocabulary (a token a line, its row by position), a float32 scale a row, and the rows as int8,
// everything little endian. It is a string so that the binary's read-only pages are used in place.
//
//go:embed table.bin
var distilled string

const tableMagic = "georag static 1\n"

// table holds one vector per token: component c of row r is scale[r]·int8(data[r·dim+c]).
type table struct {
	tokenizer *Tokenizer
	dim       int
	scale     []float32
	data      string
}

// embedded parses the table in the binary, once.
var embedded = sync.OnceValues(func() (*table, error) { return parseTable(distilled) })

func parseTable(file string) (*table, error) {
	header := len(tableMagic) + 12
	if len(file) < header || file[:len(tableMagic)] != tableMagic {
		return nil, fmt.Errorf("adapters/static: %w table: it does not start with %q", core.ErrInvalid, tableMagic)
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint32([]byte(file[at : at+4]))) }
	rows, dim, names := number(len(tableMagic)), number(len(tableMagic)+4), number(len(tableMagic)+8)
	if rows == 0 || dim == 0 || len(file) != header+names+rows*4+rows*dim {
		return nil, fmt.Errorf("adapters/static: %w table: %d bytes do not hold %d rows of %d", core.ErrInvalid, len(file), rows, dim)
	}
	vocabulary, rest := file[header:header+names], file[header+names:]
	t := &table{dim: dim, scale: make([]float32, rows), data: rest[rows*4:]}
	for r := range t.scale {
		t.scale[r] = math.Float32frombits(binary.LittleEndian.Uint32([]byte(rest[r*4 : r*4+4])))
		if x := float64(t.scale[r]); x < 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("adapters/static: %w table: scale of row %d is %v", core.ErrInvalid, r, x)
		}
	}
	var ok bool
	t.tokenizer, ok = newTokenizer(strings.Split(strings.TrimSuffix(vocabulary, "\n"), "\n"))
	if !ok || len(t.tokenizer.tokens) != rows {
		return nil, fmt.Errorf("adapters/static: %w table: the vocabulary is not %d different tokens with %s", core.ErrInvalid, rows, unknownToken)
	}
	return t, nil
}

// add adds row r to sum, which has length dim.
func (t *table) add(sum []float64, r int32) {
	scale := float64(t.scale[r])
	row := t.data[int(r)*t.dim:][:len(sum)]
	for c := range sum {
		sum[c] += scale * float64(int8(row[c]))
	}
}
