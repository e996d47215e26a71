package main

import (
	"context"
	"fmt"
	"io"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/durable"
	"github.com/georag/georag/internal/evaluate"
	"github.com/georag/georag/internal/questions"
)

// check reports flags that would be passed over, and a file that cannot be written, before anything is computed.
func (f *evalFlags) check() error {
	changed := f.command.Flags().Changed
	if changed("selector") {
		return usagef("--selector: eval compares several, as in --selectors cosine,georag")
	}
	if len(f.selectors) == 0 {
		return usagef("--selectors is empty")
	}
	for _, flag := range []string{"selectors", "presets", "pools", "sweep", "duplicates", "corrupt"} {
		if f.ablate && changed(flag) {
			return usagef("--ablate and --%s do not go together", flag)
		}
	}
	if f.json == "" {
		return nil
	}
	return durable.Check(f.json)
}

// warnOfAbsentGold tells of gold passages that the store does not hold. A store that holds none of them is the wrong
// one, which is an error.
func warnOfAbsentGold(ctx context.Context, out io.Writer, store core.Store, asked []questions.Question) error {
	absent, all, err := evaluate.AbsentGold(ctx, store, asked)
	if err != nil || len(absent) == 0 {
		return err
	}
	if len(absent) == all {
		return fmt.Errorf("%w: the store holds none of the %d gold passages, such as %s; text and integers are different ids",
			core.ErrInvalid, all, absent[0])
	}
	const shown = 5
	more := ""
	if len(absent) > shown {
		more = ", …"
	}
	fmt.Fprintf(out, "georag: the store lacks %d of the %d gold passages, which no selector can find: %v%s\n",
		len(absent), all, absent[:min(shown, len(absent))], more)
	return nil
}
