package flat

import (
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis/analyzer/standard"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"

	"github.com/georag/georag/core"
)

// Config says which folder to search and how. Only Dir is required, and that not by [OpenFS].
type Config struct {
	// Dir is the folder.
	Dir string `koanf:"dir"`
	// TenantKey is the field of each passage that holds its tenant, a string or an integer. Where it is set, a
	// request without a tenant is refused.
	TenantKey string `koanf:"tenant_key"`
	// Metric compares vectors: dot (the default for a folder without an index.json, which names its own), cosine,
	// euclidean or manhattan. A distance d is turned into the score −d.
	Metric core.Metric `koanf:"metric"`
	// TextField is the field that lexical and hybrid retrieval read. Empty is the title and text that
	// [core.Candidate.PayloadText] shows.
	TextField string `koanf:"text_field"`
	// Analyzer makes words of text: "standard" (words of any script in lower case, without English stop words; the
	// default) or "en" (English, reduced to stems).
	Analyzer string `koanf:"analyzer"`
}

// analyzers by name, the default first.
var analyzers = []string{standard.Name, en.AnalyzerName}

// metrics that the index can search by, the default first.
var metrics = []core.Metric{core.MetricDot, core.MetricCosine, core.MetricEuclidean, core.MetricManhattan}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid]. An empty Dir is left to [Open].
func (c Config) Validate() error {
	if c.Metric != "" && !slices.Contains(metrics, c.Metric) {
		return fmt.Errorf("adapters/flat: %w: metric is %q, want one of %v", core.ErrInvalid, c.Metric, metrics)
	}
	if c.Analyzer != "" && !slices.Contains(analyzers, c.Analyzer) {
		return fmt.Errorf("adapters/flat: %w: analyzer is %q, want one of %q", core.ErrInvalid, c.Analyzer, analyzers)
	}
	for _, field := range []struct{ name, value string }{{"tenant_key", c.TenantKey}, {"text_field", c.TextField}} {
		if field.value == idField {
			return fmt.Errorf("adapters/flat: %w: %s is %q, which holds each passage's identifier", core.ErrInvalid, field.name, idField)
		}
	}
	return nil
}
