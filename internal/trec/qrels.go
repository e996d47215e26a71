package trec

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Qrels holds the grade of each judged document of each query. A grade above 0 is relevant; a negative one counts
// as 0.
type Qrels map[string]map[string]int

// ReadQrels reads lines of four columns (query, iteration, document, grade), separated by white space, from r, which
// holds the content of the named file.
func ReadQrels(r io.Reader, file string) (Qrels, error) {
	qrels := Qrels{}
	err := eachLine(r, file, 4, func(fields []string) error {
		grade, err := strconv.Atoi(fields[3])
		if err != nil {
			return fmt.Errorf("%w: grade %q is not an integer", ErrFormat, fields[3])
		}
		query, doc := fields[0], fields[2]
		if _, twice := qrels[query][doc]; twice {
			return fmt.Errorf("%w: document %s is judged twice for query %s", ErrFormat, doc, query)
		}
		qrels.Judge(query, doc, grade)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return qrels, nil
}

// Judge sets the grade of a document.
func (q Qrels) Judge(query, doc string, grade int) {
	if q[query] == nil {
		q[query] = map[string]int{}
	}
	q[query][doc] = grade
}

// Write writes the judgements in byte order of query and document. It returns an error, before anything is written,
// where a name is empty or holds white space.
func (q Qrels) Write(w io.Writer) error {
	var names []string
	for query, documents := range q {
		names = append(append(names, query), sortedKeys(documents)...)
	}
	if err := checkNames(names); err != nil {
		return err
	}
	buffered := bufio.NewWriter(w)
	for _, query := range sortedKeys(q) {
		for _, doc := range sortedKeys(q[query]) {
			if _, err := fmt.Fprintf(buffered, "%s 0 %s %d\n", query, doc, q[query][doc]); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}
