// Package rules writes sub-queries without a model: it cuts a question at its clauses and conjunctions, and pairs
// each entity it names with what is asked. It knows English function words and capital letters, not grammar, and
// recalls nothing that the question does not say, so expect less of it than of a language model.
package rules

import (
	"context"
	"fmt"
	"strings"

	"github.com/georag/georag/core"
)

// ModelName is what a trace shows.
const ModelName = "rule (clauses, entities, conjunctions; no model)"

// Writer is a [core.SubQueryWriter] that follows fixed rules: the same question gives the same sub-queries. Every
// word of a sub-query is one of the question's. Its zero value is ready, and safe for concurrent use.
type Writer struct{}

var _ core.SubQueryWriter = Writer{}

// Model implements [core.SubQueryWriter].
func (Writer) Model() string { return ModelName }

// WriteSubQueries implements [core.SubQueryWriter]. It rarely finds more than a dozen, and says so in Degraded.
func (Writer) WriteSubQueries(ctx context.Context, question string, n int) (core.SubQueries, error) {
	if err := ctx.Err(); err != nil {
		return core.SubQueries{}, err
	}
	texts := subQueries(question, n)
	written := core.SubQueries{Texts: texts}
	if len(texts) < n {
		written.Degraded = fmt.Sprintf("a rule found %d parts of the question, %d were asked for", len(texts), n)
	}
	return written, nil
}

// subQueries lists up to n parts of a question, those that name most of what is wanted first.
func subQueries(question string, n int) []string {
	s := parse(question)
	var found []string
	found = append(found, s.comparisons()...)
	found = append(found, s.relatives()...)
	found = append(found, s.clauses()...)
	found = append(found, s.aboutEntities()...)
	found = append(found, s.entityTexts()...)
	found = append(found, s.keywords())
	return distinct(found, question, n)
}

// distinct drops empty texts, the question itself and texts of the same content words.
func distinct(texts []string, question string, n int) []string {
	kept := []string{}
	seen := map[string]bool{contentKey(question, false): true}
	for _, text := range texts {
		key := contentKey(text, true)
		if len(kept) >= n || key == "" || seen[key] || seen[contentKey(text, false)] {
			continue
		}
		seen[key], seen[contentKey(text, false)] = true, true
		kept = append(kept, text)
	}
	return kept
}

// contentKey is a text's words in lower case, without function words where content is set.
func contentKey(text string, content bool) string {
	var words []string
	for _, w := range split(text) {
		if !w.mark && !(content && functionWord(w.lower)) {
			words = append(words, w.lower)
		}
	}
	return strings.Join(words, " ")
}
