package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/georag/georag/core"
)

type beirPassage struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

type beirQuery struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
}

// readBEIR reads a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv. Gold are the passages judged above 0,
// best judged first; the type is the split. Queries without a judgement are skipped.
func readBEIR(c *collector, folder string, o Options) error {
	err := lines(existing(folder, "corpus.jsonl"), func(p beirPassage) error {
		return c.add(Passage{ID: core.StringID(p.ID), Title: p.Title, Text: p.Text})
	})
	if err != nil {
		return err
	}
	judged, err := readJudgements(c, folder, o.Split)
	if err != nil {
		return err
	}
	return lines(existing(folder, "queries.jsonl"), func(q beirQuery) error {
		j, ok := judged[q.ID]
		if !ok {
			c.skip("no judgement")
			return nil
		}
		slices.SortStableFunc(j.gold, func(a, b judgement) int { return b.grade - a.grade })
		question := Question{ID: q.ID, Type: j.split, Text: q.Text}
		for _, g := range j.gold {
			question.Gold = append(question.Gold, g.id)
		}
		return c.ask(question)
	})
}

// existing is the named file in folder, or its compressed form where only that exists.
func existing(folder, name string) string {
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		if _, err := os.Stat(path + ".gz"); err == nil {
			return path + ".gz"
		}
	}
	return path
}

type judgement struct {
	id    core.ID
	grade int
}

type judged struct {
	split string
	gold  []judgement
}

// readJudgements reads the qrels of one split, or of all.
func readJudgements(c *collector, folder, split string) (map[string]*judged, error) {
	pattern := "*"
	if split != "" {
		pattern = split
	}
	files, err := filepath.Glob(filepath.Join(folder, "qrels", pattern+".tsv"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: %w: no qrels/%s.tsv", folder, ErrFormat, pattern)
	}
	slices.Sort(files)
	byQuery := map[string]*judged{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		err := with(file, func(r io.Reader) error { return judgements(c, r, file, name, byQuery) })
		if err != nil {
			return nil, err
		}
	}
	return byQuery, nil
}

// judgements reads lines of query, passage and grade, separated by tabs, below a header.
func judgements(c *collector, r io.Reader, file, split string, byQuery map[string]*judged) error {
	scanner := bufio.NewScanner(r)
	for number := 1; scanner.Scan(); number++ {
		fields := strings.Split(strings.TrimRight(scanner.Text(), "\r"), "\t")
		if len(fields) != 3 {
			return fmt.Errorf("%s:%d: %w: %d fields, want query-id, corpus-id and score, separated by tabs", file, number, ErrFormat, len(fields))
		}
		grade, err := strconv.Atoi(fields[2])
		if err != nil && number == 1 {
			continue // the header
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w: score %q is not an integer", file, number, ErrFormat, fields[2])
		}
		id := core.StringID(fields[1])
		if _, known := c.passage[id]; !known {
			c.skip("judged passage not in the corpus")
			continue
		}
		if grade <= 0 {
			continue
		}
		if byQuery[fields[0]] == nil {
			byQuery[fields[0]] = &judged{split: split}
		}
		byQuery[fields[0]].gold = append(byQuery[fields[0]].gold, judgement{id, grade})
	}
	return scanner.Err()
}
