package rerank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
)

// DefaultContradictionLabel is the class of most models trained on MNLI.
const DefaultContradictionLabel = "contradiction"

// ConflictConfig sets up a [ConflictScorer]. BaseURL is required: TEI's address, whose model classifies pairs of texts.
type ConflictConfig struct {
	// Config says where the server is. Timeout bounds a call for all pairs; 0 is 10 s. A caller's deadline shortens
	// it to 0.8 of the time left.
	modelhttp.Config `koanf:",squash"`

	// Model is the name a trace shows; the server knows its own.
	Model string `koanf:"model"`
	// Label is the class that means "they contradict each other", in any case; empty is "contradiction". Models
	// without names have it as LABEL_0 or LABEL_2: see their card.
	Label string `koanf:"label"`
	// BatchSize is how many pairs go into one request; 0 is 32, TEI's default limit.
	BatchSize int `koanf:"batch_size"`
	// Concurrency is how many requests are under way at once; 0 is 4, at most 64.
	Concurrency int `koanf:"concurrency"`
	// Truncate cuts pairs that are too long; nil leaves it to the server, false makes them an error.
	Truncate *bool `koanf:"truncate"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c ConflictConfig) Validate() error {
	return Config{
		Config: c.Config, API: APITEI, BatchSize: c.BatchSize, Concurrency: c.Concurrency,
	}.Validate()
}

// ConflictScorer asks a natural language inference model how likely texts contradict each other. It is safe for
// concurrent use.
type ConflictScorer struct {
	config ConflictConfig
	http   *modelhttp.Client
}

var _ core.ConflictScorer = (*ConflictScorer)(nil)

// NewConflictScorer prepares a scorer; nothing is sent yet.
func NewConflictScorer(c ConflictConfig) (*ConflictScorer, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	client, err := modelhttp.New(c.Config, "", DefaultTimeout)
	if err != nil {
		return nil, fmt.Errorf("adapters/rerank: %w", err)
	}
	c.Label = cmp.Or(c.Label, DefaultContradictionLabel)
	c.BatchSize = cmp.Or(c.BatchSize, dialects[APITEI].limit)
	c.Concurrency = cmp.Or(c.Concurrency, 4)
	return &ConflictScorer{config: c, http: client}, nil
}

// Model is the configured name.
func (s *ConflictScorer) Model() string { return cmp.Or(s.config.Model, "nli") }

// Close ends idle connections.
func (s *ConflictScorer) Close() error { return s.http.Close() }

// Conflicts implements [core.ConflictScorer]: the probability of the contradiction class for each pair, premise
// first, in their order. Errors are those of [Client.Rerank]; [core.ErrInvalid] where the model has no such class.
func (s *ConflictScorer) Conflicts(ctx context.Context, pairs [][2]string) ([]float64, error) {
	ctx, cancel := modelhttp.Share(ctx, deadlineShare)
	defer cancel()
	conflicts := make([]float64, len(pairs))
	err := inBatches(ctx, s.config.Concurrency, s.config.BatchSize, pairs, func(ctx context.Context, start int, batch [][2]string) error {
		return s.predict(ctx, conflicts[start:start+len(batch)], batch)
	})
	if err != nil {
		return nil, fmt.Errorf("adapters/rerank: conflicts of %d pairs with %s: %w", len(pairs), s.Model(), err)
	}
	return conflicts, nil
}

// class is one of a model's for one input.
type class struct {
	Label string   `json:"label"`
	Score *float64 `json:"score"`
}

func (s *ConflictScorer) predict(ctx context.Context, dst []float64, batch [][2]string) error {
	request := struct {
		Inputs   [][2]string `json:"inputs"`
		Raw      bool        `json:"raw_scores"`
		Truncate *bool       `json:"truncate,omitempty"`
	}{batch, false, s.config.Truncate}
	var answer json.RawMessage
	if err := s.http.PostJSON(ctx, "/predict", request, &answer); err != nil {
		return err
	}
	var classes [][]class
	if err := json.Unmarshal(answer, &classes); err != nil {
		return shapeError("classes for each pair", err)
	}
	if len(classes) != len(batch) {
		return fmt.Errorf("%w: classes of %d pairs for %d", ErrAnswer, len(classes), len(batch))
	}
	for i, found := range classes {
		probability, err := s.probability(found)
		if err != nil {
			return err
		}
		dst[i] = probability
	}
	return nil
}

func (s *ConflictScorer) probability(classes []class) (float64, error) {
	at := slices.IndexFunc(classes, func(c class) bool { return strings.EqualFold(c.Label, s.config.Label) })
	if at < 0 {
		labels := make([]string, len(classes))
		for i, c := range classes {
			labels[i] = modelhttp.Message(c.Label, s.http.Key())
		}
		return 0, fmt.Errorf("%w: the model has no class %q; set label to one of %q", core.ErrInvalid, s.config.Label, labels)
	}
	p := classes[at].Score
	if p == nil || !(*p >= 0 && *p <= 1) {
		return 0, fmt.Errorf("%w: the score of class %s is no probability", ErrAnswer, s.config.Label)
	}
	return *p, nil
}
