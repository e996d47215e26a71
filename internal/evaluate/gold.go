package evaluate

import (
	"context"
	"fmt"
	"slices"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/questions"
)

// goldBatch passages are asked for at once.
const goldBatch = 500

// AbsentGold lists the gold passages that the store does not hold, in the order of core.CompareID, and says how many
// there are in all: no selector can find an absent one, and a wrong folder would pass for a bad result.
func AbsentGold(ctx context.Context, store core.Store, asked []questions.Question) (absent []core.ID, all int, err error) {
	var gold []core.ID
	for _, q := range asked {
		gold = append(gold, q.Gold...)
	}
	slices.SortFunc(gold, core.CompareID)
	gold = slices.Compact(gold)
	for batch := range slices.Chunk(gold, goldBatch) {
		found, err := store.Fetch(ctx, core.FetchRequest{IDs: batch})
		if err != nil {
			return nil, 0, fmt.Errorf("fetch the gold passages: %w", err)
		}
		held := make(map[core.ID]bool, len(found))
		for _, c := range found {
			held[c.ID] = true
		}
		for _, id := range batch {
			if !held[id] {
				absent = append(absent, id)
			}
		}
	}
	return absent, len(gold), nil
}
