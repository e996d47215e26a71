package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/georag/georag/core"
	"github.com/georag/georag/core/vec"
	"github.com/georag/georag/internal/npy"
	"github.com/georag/georag/internal/questions"
)

// selectFlags are the inputs of `georag select`.
type selectFlags struct {
	configFlags
	questionID, questions         string
	queryVectors, subQueryVectors string
	where, tenant                 string
	partitions                    []string
	explain, json, strict         bool
}

func newSelect(s streams) *cobra.Command {
	f := &selectFlags{}
	cmd := &cobra.Command{
		Use:   "select [QUESTION]",
		Short: "Select passages for a question",
		Long: `Select the k passages that together cover what a question needs.

The question is one of: its text (which needs an embedder in the configuration); --question-id of a folder
--questions; or --query-vectors, a .npy file of one or N vectors, with --subquery-vectors of m or N × m.
With N vectors one selection is printed for each.`,
		Example: `  georag select --passages DIR --questions DIR --question-id ID --explain
  georag select --config qdrant.yaml --query-vectors q.npy --subquery-vectors sub.npy --json`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args, s) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.questionID, "question-id", "", "id of a question in --questions")
	flags.StringVar(&f.questions, "questions", "", "folder of questions.jsonl, questions.npy, subqueries.npy")
	flags.StringVar(&f.queryVectors, "query-vectors", "", ".npy file of shape (d), (1, d) or (N, d)")
	flags.StringVar(&f.subQueryVectors, "subquery-vectors", "", ".npy file of shape (m, d) or (N, m, d)")
	flags.StringVar(&f.where, "where", "", "condition on the payload in the store's own language (Qdrant filter JSON, Milvus expression, lang=en)")
	flags.StringVar(&f.tenant, "tenant", "", "tenant to search in")
	flags.StringArrayVar(&f.partitions, "partition", nil, "partition or shard key to search in; repeatable")
	flags.BoolVar(&f.explain, "explain", false, "show why each passage was chosen")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a selection")
	flags.BoolVar(&f.strict, "strict", false, "exit with 3 where a selection is degraded")
	return cmd
}

func (f *selectFlags) run(cmd *cobra.Command, args []string, s streams) error {
	queries, err := f.queries(args)
	if err != nil {
		return err
	}
	c, err := f.read()
	if err != nil {
		return err
	}
	strict := f.strict || c.Strict
	c.Strict = false // the selection is shown; the exit code tells
	stage, open, err := openStage(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer open.Close()
	if slices.ContainsFunc(queries, func(q core.Query) bool { return q.Vector == nil }) && stage.Planner.Embedder == nil {
		return errNoEmbedder
	}
	var degraded []core.Reason
	for i, q := range queries {
		q.Scope = core.Scope{Filter: f.where, Tenant: f.tenant, Partitions: f.partitions}
		selection, err := stage.Select(cmd.Context(), q)
		if err != nil {
			return err
		}
		if err := f.print(s, i, len(queries), q, selection); err != nil {
			return err
		}
		degraded = append(degraded, selection.Trace.Degraded...)
	}
	if strict && len(degraded) > 0 {
		return fmt.Errorf("%w: %s: %s", core.ErrStrict, degraded[0].Code, degraded[0].Detail)
	}
	return nil
}

func (f *selectFlags) print(s streams, i, n int, q core.Query, selection core.Selection) error {
	if f.json {
		return json.NewEncoder(s.out).Encode(selection)
	}
	if n > 1 {
		fmt.Fprintf(s.out, "%squery %d\n", strings.Repeat("\n", min(i, 1)), i)
	}
	if q.Text != "" {
		fmt.Fprintf(s.out, "%s\n\n", q.Text)
	}
	writeSelection(s.out, selection, f.explain)
	return nil
}

// queries reads the question from the one place the command line names.
func (f *selectFlags) queries(args []string) ([]core.Query, error) {
	var named []string
	for name, given := range map[string]bool{
		"a question": len(args) > 0, "--question-id": f.questionID != "", "--query-vectors": f.queryVectors != "",
	} {
		if given {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	switch {
	case len(named) == 0:
		return nil, usagef("give one of a question, --question-id and --query-vectors")
	case len(named) > 1:
		return nil, usagef("give one of a question, --question-id and --query-vectors, not %s", strings.Join(named, " and "))
	case len(args) > 0 && strings.TrimSpace(args[0]) == "":
		return nil, usagef("the question is empty")
	case f.subQueryVectors != "" && f.queryVectors == "":
		return nil, usagef("--subquery-vectors needs --query-vectors")
	case (f.questionID == "") != (f.questions == ""):
		return nil, usagef("--question-id and --questions go together")
	case len(args) > 0:
		return []core.Query{{Text: args[0]}}, nil
	case f.questionID != "":
		return questionOf(f.questions, f.questionID)
	}
	return queriesOf(f.queryVectors, f.subQueryVectors)
}

func questionOf(dir, id string) ([]core.Query, error) {
	all, err := questions.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	i := slices.IndexFunc(all, func(q questions.Question) bool { return q.ID == id })
	if i < 0 {
		return nil, usagef("--question-id %s: %s has no such question among its %d", id, dir, len(all))
	}
	return []core.Query{all[i].Query()}, nil
}

// queriesOf reads N query vectors and, where a file is given, the m sub-query vectors of each.
func queriesOf(queryFile, subQueryFile string) ([]core.Query, error) {
	vectors, err := rowsOf(queryFile, "--query-vectors")
	if err != nil {
		return nil, err
	}
	queries := make([]core.Query, len(vectors))
	for i, v := range vectors {
		if err := vec.Check(v, len(v)); err != nil {
			return nil, usagef("--query-vectors %s: row %d: %w", queryFile, i, err)
		}
		queries[i].Vector = v
	}
	if subQueryFile == "" {
		return queries, nil
	}
	subQueries, err := rowsOf(subQueryFile, "--subquery-vectors")
	if err != nil {
		return nil, err
	}
	if len(subQueries)%len(queries) != 0 {
		return nil, usagef("--subquery-vectors %s: %d vectors cannot belong to %d queries alike", subQueryFile, len(subQueries), len(queries))
	}
	m := len(subQueries) / len(queries)
	for j, v := range subQueries {
		if len(v) != len(vectors[0]) {
			return nil, usagef("--subquery-vectors %s: dimension %d, and the query vectors have %d", subQueryFile, len(v), len(vectors[0]))
		}
		queries[j/m].SubQueries = append(queries[j/m].SubQueries, core.SubQuery{Vector: v})
	}
	return queries, nil
}

func rowsOf(file, flag string) ([][]float32, error) {
	matrix, err := npy.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", flag, core.ErrInvalid, err)
	}
	defer matrix.Close()
	if matrix.Rows() == 0 {
		return nil, usagef("%s %s: holds no vectors", flag, file)
	}
	rows := make([][]float32, matrix.Rows())
	for i := range rows {
		rows[i] = matrix.Row(nil, i)
	}
	return rows, nil
}
