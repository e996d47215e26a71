package measure

// GoldRecall returns the share, in [0, 1], of the different gold passages that are among the chosen ones.
func GoldRecall[T comparable](chosen, gold []T) float64 {
	found := make(map[T]bool, len(gold))
	for _, g := range gold {
		found[g] = false
	}
	hits := 0
	for _, c := range chosen {
		if seen, isGold := found[c]; isGold && !seen {
			found[c] = true
			hits++
		}
	}
	if len(found) == 0 {
		return 0
	}
	return float64(hits) / float64(len(found))
}

// AllGold reports whether there is gold and all of it is among the chosen passages.
func AllGold[T comparable](chosen, gold []T) bool { return GoldRecall(chosen, gold) == 1 }
