package stress

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
)

// Config says how many near-duplicates there are and how near they are. Its zero value adds none.
type Config struct {
	// Share of near-duplicates in the whole collection, 0 to [MaxShare].
	Share float64
	// Copies is how many near-duplicates a passage has that has any; 0 is [DefaultCopies]. Redundancy in real
	// collections comes in groups, not evenly.
	Copies int
	// Cosine is the mean cosine of a copy to its original and Spread its standard deviation, where vectors are
	// perturbed; 0 is [DefaultCosine] and [DefaultSpread]. They do not apply where an embedder reads the copies.
	Cosine, Spread float64
	Seed           uint64
	// Embedder, where set, embeds each copy's rewritten text, which is then what decides its vector.
	Embedder core.Embedder
}

// Defaults and limits of [Config].
const (
	MaxShare      = 0.9
	DefaultCopies = 3
	DefaultCosine = 0.97
	DefaultSpread = 0.01
	// highestCosine keeps a perturbed copy apart from its original.
	highestCosine = 0.9999
)

// Validate reports the first field out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	for _, number := range []struct {
		name        string
		value       float64
		least, most float64
	}{
		{"share", c.Share, 0, MaxShare},
		{"copies", float64(c.Copies), 0, 1000},
		{"cosine", c.Cosine, 0, highestCosine},
		{"spread", c.Spread, 0, 0.5},
	} {
		if !(number.value >= number.least && number.value <= number.most) {
			return fmt.Errorf("internal/stress: %w: %s is %v, want %v to %v", core.ErrInvalid, number.name, number.value, number.least, number.most)
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Copies == 0 {
		c.Copies = DefaultCopies
	}
	if c.Cosine == 0 {
		c.Cosine = DefaultCosine
	}
	if c.Spread == 0 {
		c.Spread = DefaultSpread
	}
	return c
}

// copiesOf is how many near-duplicates the passage has: the share s of duplicates among all asks for s/(1−s) copies
// per original, dealt out in groups.
func (c Config) copiesOf(id core.ID) int {
	perOriginal := c.Share / (1 - c.Share)
	groups := perOriginal / float64(c.Copies)
	sure := math.Floor(groups)
	count := int(sure) * c.Copies
	if c.random(id, 0).Float64() < groups-sure {
		count += c.Copies
	}
	return count
}

// random is the source of everything random about copy n of a passage; n = 0 is the passage itself.
func (c Config) random(id core.ID, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s", n, encode(id))
	return rand.New(rand.NewPCG(c.Seed, h.Sum64()))
}

// perturb returns a vector at about the configured cosine to v and of the same norm, in a random direction.
func (c Config) perturb(v []float32, r *rand.Rand) []float32 {
	norm := vec.Norm(v)
	unit := vec.Normalise(nil, v)
	cosine := min(highestCosine, c.Cosine+c.Spread*r.NormFloat64())
	away, along := make([]float64, len(v)), 0.0
	for i, x := range unit {
		away[i] = r.NormFloat64()
		along += away[i] * float64(x)
	}
	length := 0.0
	for i, x := range unit {
		away[i] -= along * float64(x)
		length += away[i] * away[i]
	}
	sideways := math.Sqrt(1-cosine*cosine) / math.Sqrt(length)
	copied := make([]float32, len(v))
	for i, x := range unit {
		copied[i] = float32(norm * (cosine*float64(x) + sideways*away[i]))
	}
	return copied
}

// prefix marks the IDs of copies: "near-duplicate:<n>:<kind>:<original>".
const prefix = "near-duplicate:"

func encode(id core.ID) string {
	if text, ok := id.Text(); ok {
		return "s:" + text
	}
	return "i:" + id.String()
}

// CopyID is the ID of copy n, from 1, of a passage.
func CopyID(original core.ID, n int) core.ID {
	return core.StringID(prefix + strconv.Itoa(n) + ":" + encode(original))
}

// Original returns the passage that an ID stands for: that of a copy is its original's, any other its own.
func Original(id core.ID) core.ID {
	original, _ := split(id)
	return original
}

// split takes a copy's ID apart; n is 0 where it is not a copy.
func split(id core.ID) (original core.ID, n int) {
	text, _ := id.Text()
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return id, 0
	}
	number, rest, _ := strings.Cut(rest, ":")
	kind, name, ok := strings.Cut(rest, ":")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 1 {
		return id, 0
	}
	if kind == "i" {
		return core.ParseID(name), n
	}
	return core.StringID(name), n
}
