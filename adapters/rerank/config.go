package rerank

import (
	"cmp"
	"fmt"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/modelhttp"
)

// DefaultTimeout bounds one call for all passages, retries included.
const DefaultTimeout = 10 * time.Second

// deadlineShare is the part of the caller's remaining time that a model may take, so that there is time left to
// select without it.
const deadlineShare = 0.8

// API names a dialect.
type API string

const (
	APICohere API = "cohere" // POST /v2/rerank
	APIJina   API = "jina"   // POST /v1/rerank
	APITEI    API = "tei"    // POST /rerank of text-embeddings-inference
	APIVoyage API = "voyage" // POST /v1/rerank
	APIVLLM   API = "vllm"   // POST /rerank
)

// Config sets up a [Client]. API is required, and Model for all but TEI and vLLM, which serve one.
type Config struct {
	// Config says where the server is. BaseURL is what the path in the comment of each API is appended to; for
	// Cohere, Jina and Voyage it may be empty for their own service, "https://api.jina.ai/v1" and the like.
	// Timeout bounds a call for all passages; 0 is 10 s. A caller's deadline shortens it to 0.8 of the time left.
	modelhttp.Config `koanf:",squash"`

	API   API    `koanf:"api"`
	Model string `koanf:"model"`
	// BatchSize is how many passages go into one request; 0 is the service's limit: 32 for TEI's default
	// configuration, 1,000 for the others.
	BatchSize int `koanf:"batch_size"`
	// Concurrency is how many requests are under way at once; 0 is 4, at most 64.
	Concurrency int `koanf:"concurrency"`
	// Truncation says what happens to passages that are too long for the model.
	Truncation Truncation `koanf:"truncation"`
}

// Truncation cuts passages that are too long. Not every API has every field; one that it lacks is refused.
type Truncation struct {
	// Enabled, for TEI and Voyage: nil leaves it to the server, false makes a passage too long an error.
	Enabled *bool `koanf:"enabled"`
	// Side, for TEI: "left" or "right" (the server's default), where text is cut off.
	Side string `koanf:"side"`
	// Tokens, for Cohere per passage and for vLLM per query and passage; 0 leaves it to the server.
	Tokens int `koanf:"tokens"`
}

// Validate reports a setting out of its range or foreign to the API; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	d, ok := dialects[c.API]
	switch {
	case !ok:
		return fmt.Errorf("adapters/rerank: api %q: %w: must be cohere, jina, tei, voyage or vllm", c.API, core.ErrInvalid)
	case c.BaseURL == "" && d.base == "":
		return fmt.Errorf("adapters/rerank: base_url: %w: must be set for %s", core.ErrInvalid, c.API)
	case c.Model == "" && d.needsModel:
		return fmt.Errorf("adapters/rerank: model: %w: must be set for %s", core.ErrInvalid, c.API)
	case c.BatchSize < 0 || c.BatchSize > maxBatch:
		return fmt.Errorf("adapters/rerank: batch_size %d: %w: must be in [0, %d]", c.BatchSize, core.ErrInvalid, maxBatch)
	case c.Concurrency < 0 || c.Concurrency > 64:
		return fmt.Errorf("adapters/rerank: concurrency %d: %w: must be in [0, 64]", c.Concurrency, core.ErrInvalid)
	}
	return c.Truncation.validate(c.API)
}

func (t Truncation) validate(api API) error {
	switch {
	case t.Enabled != nil && api != APITEI && api != APIVoyage:
		return fmt.Errorf("adapters/rerank: truncation.enabled: %w: %s has no such option", core.ErrInvalid, api)
	case t.Side != "" && api != APITEI:
		return fmt.Errorf("adapters/rerank: truncation.side: %w: %s has no such option", core.ErrInvalid, api)
	case t.Side != "" && t.Side != "left" && t.Side != "right":
		return fmt.Errorf("adapters/rerank: truncation.side %q: %w: must be left or right", t.Side, core.ErrInvalid)
	case t.Tokens < 0:
		return fmt.Errorf("adapters/rerank: truncation.tokens %d: %w: must not be negative", t.Tokens, core.ErrInvalid)
	case t.Tokens > 0 && api != APICohere && api != APIVLLM:
		return fmt.Errorf("adapters/rerank: truncation.tokens: %w: %s has no such option", core.ErrInvalid, api)
	}
	return nil
}

// maxBatch is Cohere's hard limit, the highest of all.
const maxBatch = 10000

func (c Config) batchSize() int { return cmp.Or(c.BatchSize, dialects[c.API].limit) }
