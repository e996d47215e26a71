package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/georag/georag/internal/batch"
)

func newBatch(s streams) *cobra.Command {
	f := &configFlags{}
	var job batch.Job
	cmd := &cobra.Command{
		Use:   "batch QUESTIONS.jsonl SELECTIONS.jsonl",
		Short: "Answer a file of questions offline",
		Long: `Answer a file of questions, one JSON object a line, with one selection a line in the same order, on all cores and in
memory that does not grow with the file. A question has "question" or "vector" (numbers), and optionally "id",
"subqueries" (texts, or objects with "text" and "vector"), "tenant" and "filter". A run that was interrupted goes on where
the output ends.`,
		Example: `  georag batch --config georag.yaml questions.jsonl selections.jsonl`,
		Args:    arguments(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if job.Workers < 0 {
				return usagef("--workers is %d, want 0 or more", job.Workers)
			}
			c, err := f.read()
			if err != nil {
				return err
			}
			stage, open, err := openStage(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer open.Close()
			job.Selector = &stage
			bar := newProgress(s.err, -1, "selections")
			job.Progress = func(lines int) { _ = bar.Set(lines) }
			lines, err := runBatch(cmd, job, args[0], args[1])
			_ = bar.Clear()
			if lines > 0 {
				fmt.Fprintf(s.out, "%s: %d selections\n", args[1], lines)
			}
			return err
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&job.Workers, "workers", 0, "selections under way at once; 0 is one for each processor")
	cmd.Flags().BoolVar(&job.KeepGoing, "keep-going", false, "write a line with the error of a question that cannot be answered, and go on")
	return cmd
}

func runBatch(cmd *cobra.Command, job batch.Job, from, to string) (lines int, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	return job.Run(cmd.Context(), in, from, out)
}
