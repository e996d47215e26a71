package flat

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/georag/georag/core"
)

// The usual parameters of BM25: how soon a repeated word counts no more, and how much long passages are held back.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// lexicon is an inverted index of the passages' words, made when it is first needed. Scores are those of
// Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the idf
// ln(1 + (N − df + ½)/(df + ½)), which is never negative.
type lexicon struct {
	making   sync.Mutex
	ready    bool
	analyzer analysis.Analyzer
	postings map[string][]posting // of each word, rows ascending
	lengths  []int32              // words of each row
	passages int                  // N
	average  float64              // words of a passage
}

// posting says how often a word is in a row.
type posting struct {
	row, count int32
}

// lexicon returns the index of words, which the first caller makes. Where its context ends before that, the next
// caller starts again.
func (s *Store) lexicon(ctx context.Context) (*lexicon, error) {
	x := &s.words
	x.making.Lock()
	defer x.making.Unlock()
	if x.ready {
		return x, nil
	}
	analyzer, err := registry.NewCache().AnalyzerNamed(cmp.Or(s.cfg.Analyzer, analyzers[0]))
	if err != nil {
		return nil, fmt.Errorf("adapters/flat: %w", err)
	}
	x.analyzer, x.postings, x.lengths = analyzer, make(map[string][]posting), make([]int32, len(s.ids))
	live, total := rows{some: s.live, all: len(s.ids)}, 0
	var line []byte
	for i := range live.len() {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("adapters/flat: index the words: %w", err)
		}
		row := live.at(i)
		if line, err = s.line(line, row); err != nil {
			return nil, err
		}
		total += x.add(row, s.text(line))
	}
	x.passages, x.average, x.ready = live.len(), float64(total)/float64(live.len()), true
	return x, nil
}

// text is what lexical retrieval reads of a line.
func (s *Store) text(line []byte) string {
	_, payload := payloadOf(line)
	if s.cfg.TextField != "" {
		text, _ := payload[s.cfg.TextField].(string)
		return text
	}
	return core.Candidate{Payload: payload}.PayloadText()
}

// add indexes the words of a row, which come in ascending order, and returns their number.
func (x *lexicon) add(row int32, text string) int {
	words := x.analyzer.Analyze([]byte(text))
	for _, word := range words {
		list := x.postings[string(word.Term)]
		if n := len(list); n > 0 && list[n-1].row == row {
			list[n-1].count++
			continue
		}
		x.postings[string(word.Term)] = append(list, posting{row: row, count: 1})
	}
	x.lengths[row] = int32(len(words))
	return len(words)
}

// search returns the k admitted rows of the highest scores, best first. A word that the text repeats counts again.
func (x *lexicon) search(text string, k int, ids []core.ID, admitted rows) []hit {
	scores := make([]float64, len(x.lengths))
	for _, word := range x.analyzer.Analyze([]byte(text)) {
		list := x.postings[string(word.Term)]
		idf := math.Log1p((float64(x.passages-len(list)) + 0.5) / (float64(len(list)) + 0.5))
		for _, p := range list {
			count := float64(p.count)
			length := 1 - bm25B + bm25B*float64(x.lengths[p.row])/x.average
			scores[p.row] += idf * count * (bm25K1 + 1) / (count + bm25K1*length)
		}
	}
	best := ranking{ids: ids, most: k}
	for i := range admitted.len() {
		if row := admitted.at(i); scores[row] > 0 {
			best.offer(hit{row: row, score: scores[row]})
		}
	}
	return best.sorted()
}
