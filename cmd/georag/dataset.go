package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/dataset"
	"github.com/georag/georag/internal/jsonl"
)

func newDataset(s streams) *cobra.Command {
	var out string
	var options dataset.Options
	cmd := &cobra.Command{
		Use:   "dataset NAME PATH",
		Short: "Turn a public dataset into a folder of passages and questions",
		Long: `Read a dataset as its publisher hands it out (a file, gzipped or not, or a folder for beir) and write passages.jsonl
and questions.jsonl. NAME is one of ` + strings.Join(dataset.Names(), ", ") + `.`,
		Example: `  georag dataset hotpotqa hotpot_dev_distractor_v1.json --out hotpot --limit 500
  georag index build --input hotpot/passages.jsonl --store flat:hotpot-index --tokens 8000
  georag eval --passages hotpot-index --questions hotpot`,
		Args: arguments(cobra.ExactArgs(2)),
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing")
			}
			corpus, err := dataset.Read(args[0], args[1], options)
			if errors.Is(err, dataset.ErrUnknown) || errors.Is(err, dataset.ErrFormat) || errors.Is(err, jsonl.ErrFormat) {
				return fmt.Errorf("%w: %w", core.ErrInvalid, err)
			}
			if err != nil {
				return err
			}
			if err := corpus.Write(out); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s: %d passages, %d questions\n", out, len(corpus.Passages), len(corpus.Questions))
			for _, why := range slices.Sorted(maps.Keys(corpus.Skipped)) {
				fmt.Fprintf(s.out, "left out %d records: %s\n", corpus.Skipped[why], why)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "folder to write (required)")
	flags.IntVar(&options.Limit, "limit", 0, "questions to read; 0 is all")
	flags.StringVar(&options.Split, "split", "", "split to read, for asqa and beir; the default is all")
	flags.StringVar(&options.Pages, "pages", "", "folder of Wikipedia pages, for fever; the default is wiki-pages beside the claims")
	flags.IntVar(&options.Distractors, "distractors", 0, "pages to keep beyond those with evidence, for fever; negative is all")
	return cmd
}
