package trec

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Run holds the documents retrieved for each query, best first.
type Run map[string][]Scored

// Scored is one retrieved document.
type Scored struct {
	Doc   string
	Score float64
}

// ReadRun reads lines of six columns (query, "Q0", document, rank, score, tag), separated by white space, from r,
// which holds the content of the named file. Documents come out in trec_eval's order. A document that occurs twice
// for a query is an error.
func ReadRun(r io.Reader, file string) (Run, error) {
	run := Run{}
	seen := map[[2]string]bool{}
	err := eachLine(r, file, 6, func(fields []string) error {
		score, err := strconv.ParseFloat(fields[4], 64)
		if err != nil || score != score {
			return fmt.Errorf("%w: score %q is not a number", ErrFormat, fields[4])
		}
		query, doc := fields[0], fields[2]
		if seen[[2]string{query, doc}] {
			return fmt.Errorf("%w: document %s occurs twice for query %s", ErrFormat, doc, query)
		}
		seen[[2]string{query, doc}] = true
		run[query] = append(run[query], Scored{doc, score})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, documents := range run {
		rank(documents)
	}
	return run, nil
}

// rank sorts documents as trec_eval does.
func rank(documents []Scored) {
	slices.SortFunc(documents, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(float32(b.Score), float32(a.Score)), strings.Compare(b.Doc, a.Doc))
	})
}

// FromRanking gives documents in selection order the scores n, n−1, …, 1, so that every reader ranks them in that
// order.
func FromRanking(documents []string) []Scored {
	scored := make([]Scored, len(documents))
	for i, d := range documents {
		scored[i] = Scored{d, float64(len(documents) - i)}
	}
	return scored
}

// Write writes the run with queries in byte order and ranks from 1. It returns an error, before anything is
// written, where a name is empty or holds white space, which the format cannot carry.
func (r Run) Write(w io.Writer, tag string) error {
	if err := r.checkNames(tag); err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	for _, query := range sortedKeys(r) {
		documents := slices.Clone(r[query])
		rank(documents)
		for i, d := range documents {
			score := strconv.FormatFloat(d.Score, 'g', -1, 64)
			if _, err := fmt.Fprintf(buffered, "%s Q0 %s %d %s %s\n", query, d.Doc, i+1, score, tag); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}

func (r Run) checkNames(tag string) error {
	names := []string{tag}
	for query, documents := range r {
		names = append(names, query)
		for _, d := range documents {
			names = append(names, d.Doc)
		}
	}
	return checkNames(names)
}
