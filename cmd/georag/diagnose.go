package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/diagnose"
	"github.com/georag/georag/internal/durable"
	"github.com/georag/georag/internal/jsonl"
	"github.com/georag/georag/internal/questions"
)

// diagnoseFlags are the inputs of `georag diagnose`.
type diagnoseFlags struct {
	configFlags
	queries, subQueryVectors string
	where, tenant            string
	html, state, featured    string
	json, skipScan           bool
	exact                    int
	ricci                    bool
}

func newDiagnose(s streams) *cobra.Command {
	f := &diagnoseFlags{}
	cmd := &cobra.Command{
		Use:   "diagnose",
		Short: "Tell how well an index serves a sample of questions, and what is wrong with it",
		Long: `Report the redundancy, crowding and coverage of an index's answers to a sample of questions, the health of the
sub-queries and of the index itself, and advice with the number behind it.

--queries is one of: a folder of questions.jsonl (with .npy vectors or an embedder in the configuration); a .jsonl file
with "question" and optionally "subqueries" on each line; a .txt file with a question on each line; a .npy file of
query vectors, with --subquery-vectors. A run that was interrupted goes on from --state.`,
		Example: `  georag diagnose --config georag.yaml --queries questions.txt --html report.html`,
		Args:    arguments(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.queries, "queries", "", "sample of questions (required)")
	flags.StringVar(&f.subQueryVectors, "subquery-vectors", "", ".npy file of the sub-queries' vectors, for --queries FILE.npy")
	flags.StringVar(&f.where, "where", "", "condition on the payload in the store's own language")
	flags.StringVar(&f.tenant, "tenant", "", "tenant to search in")
	flags.BoolVar(&f.json, "json", false, "print JSON instead of tables")
	flags.StringVar(&f.html, "html", "", "also write the report as one self-contained page")
	flags.StringVar(&f.state, "state", "", "file to keep records in, so that an interrupted run goes on")
	flags.StringVar(&f.featured, "question", "", "id of the question to show in detail; the default is the one that selection helps most")
	flags.BoolVar(&f.skipScan, "skip-scan", false, "leave the index itself unread: no vector health, no exact search")
	flags.IntVar(&f.exact, "exact", diagnose.DefaultExactQueries, "queries that are also searched exactly")
	flags.BoolVar(&f.ricci, "ricci", false, "show the Ricci filter, as --filter ricci")
	return cmd
}

func (f *diagnoseFlags) run(cmd *cobra.Command, s streams) error {
	if f.queries == "" {
		return usagef("--queries is missing")
	}
	if f.ricci {
		f.overrides = append(f.overrides, "filter.name="+core.FilterRicci)
	}
	c, err := f.read()
	if err != nil {
		return err
	}
	sample, err := f.sample()
	if err != nil {
		return err
	}
	stage, open, err := openStage(cmd.Context(), c)
	if err != nil {
		return err
	}
	defer open.Close()
	bars := &phases{out: s.err}
	report, err := diagnose.Run(cmd.Context(), sample, diagnose.Config{
		Stage: stage, Scope: core.Scope{Filter: f.where, Tenant: f.tenant}, State: f.state, ExactQueries: f.exact,
		SkipScan: f.skipScan, Featured: f.featured, Progress: bars.set,
	})
	bars.clear()
	if err != nil {
		return err
	}
	return f.write(s.out, report)
}

func (f *diagnoseFlags) write(out io.Writer, report *diagnose.Report) error {
	if f.html != "" {
		if err := durable.WriteFile(f.html, func(w io.WriteSeeker) error { return report.WriteHTML(w) }); err != nil {
			return err
		}
	}
	if f.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	return report.WriteText(out)
}

// phases shows one bar after the other.
type phases struct {
	out  io.Writer
	name diagnose.Phase
	bar  *progressbar.ProgressBar
}

func (p *phases) set(phase diagnose.Phase, done, total int) {
	if p.bar == nil || p.name != phase {
		p.clear()
		p.name, p.bar = phase, newProgress(p.out, total, string(phase))
	}
	_ = p.bar.Set(done)
}

func (p *phases) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// sample reads the questions from what --queries names.
func (f *diagnoseFlags) sample() (diagnose.List, error) {
	info, err := os.Stat(f.queries)
	if err != nil {
		return nil, fmt.Errorf("--queries: %w: %w", core.ErrInvalid, err)
	}
	var list diagnose.List
	switch extension := filepath.Ext(f.queries); {
	case info.IsDir():
		list, err = sampleFolder(f.queries)
	case extension == ".jsonl":
		list, err = sampleLines(f.queries)
	case extension == ".npy":
		list, err = sampleVectors(f.queries, f.subQueryVectors)
	case extension == ".txt":
		list, err = sampleText(f.queries)
	default:
		return nil, usagef("--queries %s: want a folder, or a .jsonl, .txt or .npy file", f.queries)
	}
	if err == nil && len(list) == 0 {
		err = usagef("--queries %s: holds no questions", f.queries)
	}
	for i := range list {
		list[i].Scope = core.Scope{Filter: f.where, Tenant: f.tenant}
	}
	return list, err
}

func sampleFolder(dir string) (diagnose.List, error) {
	asked, err := questions.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	list := make(diagnose.List, len(asked))
	for i, q := range asked {
		list[i] = diagnose.Query{ID: q.ID, Query: q.Query()}
	}
	return list, nil
}

func sampleVectors(file, subQueries string) (diagnose.List, error) {
	queries, err := queriesOf(file, subQueries)
	if err != nil {
		return nil, err
	}
	list := make(diagnose.List, len(queries))
	for i, q := range queries {
		list[i] = diagnose.Query{ID: fmt.Sprint(i), Query: q}
	}
	return list, nil
}

func sampleLines(file string) (diagnose.List, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var list diagnose.List
	err = jsonl.Each(in, file, func(line jsonl.Line) error {
		var record struct {
			ID         string   `json:"id"`
			Question   string   `json:"question"`
			SubQueries []string `json:"subqueries"`
		}
		if err := json.Unmarshal(line.Data, &record); err != nil {
			return jsonl.Errorf(file, line.Number, "%w", err)
		}
		if record.Question == "" {
			return jsonl.Errorf(file, line.Number, `"question" is missing`)
		}
		q := diagnose.Query{ID: or(record.ID, fmt.Sprint(line.Number)), Query: core.Query{Text: record.Question}}
		for _, text := range record.SubQueries {
			q.SubQueries = append(q.SubQueries, core.SubQuery{Text: text})
		}
		list = append(list, q)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", core.ErrInvalid, err)
	}
	return list, nil
}

func sampleText(file string) (diagnose.List, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var list diagnose.List
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			list = append(list, diagnose.Query{ID: fmt.Sprint(n), Query: core.Query{Text: text}})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", file, core.ErrInvalid, err)
	}
	return list, nil
}
