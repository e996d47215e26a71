package diagnose

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/georag/georag/core"
)

// duplicates finds vectors that are bit for bit equal, by a hash of 64 bits: among a million vectors the odds of a
// false pair are below one in ten million.
type duplicates struct {
	seed  maphash.Seed
	first map[uint64]core.ID
	more  map[uint64][]core.ID // of vectors seen again
}

func newDuplicates() duplicates {
	return duplicates{maphash.MakeSeed(), map[uint64]core.ID{}, map[uint64][]core.ID{}}
}

func (d duplicates) see(c core.Candidate) {
	var h maphash.Hash
	h.SetSeed(d.seed)
	var word [4]byte
	for _, x := range c.Vector {
		bits := math.Float32bits(x)
		word[0], word[1], word[2], word[3] = byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24)
		h.Write(word[:])
	}
	sum := h.Sum64()
	if _, again := d.first[sum]; again {
		d.more[sum] = append(d.more[sum], c.ID)
		return
	}
	d.first[sum] = c.ID
}

// result returns how many vectors repeat an earlier one, and the largest groups of passages that share one.
func (d duplicates) result(limit int) (repeated int64, largest [][]core.ID) {
	largest = [][]core.ID{}
	for sum, more := range d.more {
		repeated += int64(len(more))
		group := append([]core.ID{d.first[sum]}, more...)
		slices.SortFunc(group, core.CompareID)
		largest = append(largest, group)
	}
	slices.SortFunc(largest, func(a, b []core.ID) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), core.CompareID(a[0], b[0]))
	})
	return repeated, largest[:min(limit, len(largest))]
}
