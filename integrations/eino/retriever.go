package eino

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/georag/georag/core"
)

// RetrieverConfig says what a [Retriever] searches. Only Stage is required.
type RetrieverConfig struct {
	// Stage selects. It needs an embedder, unless every call brings one by retriever.WithEmbedding.
	Stage *core.Stage
	// Scope restricts every search; options of a call refine it.
	Scope core.Scope
	// Index is the name that retriever.WithIndex may give. Another name is an error: a stage has one collection.
	Index string
	// Timeout bounds one call. 0 is 10 s.
	Timeout time.Duration
}

// Validate reports what is missing or out of its range; the error wraps [core.ErrInvalid].
func (c RetrieverConfig) Validate() error {
	switch {
	case c.Stage == nil || c.Stage.Store == nil:
		return fmt.Errorf("integrations/eino: %w: there is no stage with a store", core.ErrInvalid)
	case c.Timeout < 0:
		return fmt.Errorf("integrations/eino: %w: timeout is %s, want 0 or more", core.ErrInvalid, c.Timeout)
	}
	return settingsOf(c.Stage).Validate()
}

// Retriever is safe for concurrent use.
type Retriever struct{ config RetrieverConfig }

var (
	_ retriever.Retriever = (*Retriever)(nil)
	_ components.Typer    = (*Retriever)(nil)
	_ components.Checker  = (*Retriever)(nil)
)

// NewRetriever checks the configuration.
func NewRetriever(c RetrieverConfig) (*Retriever, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	return &Retriever{config: c}, nil
}

const defaultTimeout = 10 * time.Second

// GetType implements [components.Typer].
func (r *Retriever) GetType() string { return "Georag" }

// IsCallbacksEnabled implements [components.Checker]: Retrieve runs the callbacks itself.
func (r *Retriever) IsCallbacksEnabled() bool { return true }

// Retrieve returns the selected passages in selection order: the stored identifier as text, the payload as metadata
// beside [MetaCovers], the cosine to the question as score and the stored vector as dense vector.
//
// Of Eino's options it takes TopK (k), SubIndex (a partition or shard key), ScoreThreshold (a least cosine, applied to
// the selection), Embedding and Index; those of this package are [WithFilter], [WithTenant] and [WithSubQueries].
// DSLInfo is [core.ErrUnsupported].
func (r *Retriever) Retrieve(ctx context.Context, query string, opts ...retriever.Option) (documents []*schema.Document, err error) {
	settings := settingsOf(r.config.Stage)
	common := retriever.GetCommonOptions(&retriever.Options{TopK: &settings.K}, opts...)
	own := retriever.GetImplSpecificOptions(&retrieverOptions{filter: r.config.Scope.Filter, tenant: r.config.Scope.Tenant}, opts...)
	ctx = callbacks.EnsureRunInfo(ctx, r.GetType(), components.ComponentOfRetriever)
	ctx = callbacks.OnStart(ctx, &retriever.CallbackInput{Query: query, TopK: *common.TopK, Filter: own.filter, ScoreThreshold: common.ScoreThreshold})
	defer func() {
		if err != nil {
			callbacks.OnError(ctx, err)
		}
	}()
	stage, q, err := r.prepare(query, common, own)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	selection, err := stage.Select(limited, q)
	if err != nil {
		return nil, fmt.Errorf("integrations/eino: %w", err)
	}
	documents = documentsOf(selection, common.ScoreThreshold)
	callbacks.OnEnd(ctx, &retriever.CallbackOutput{Docs: documents, Extra: map[string]any{ExtraTrace: selection.Trace}})
	return documents, nil
}

// prepare maps the options of a call.
func (r *Retriever) prepare(query string, common *retriever.Options, own *retrieverOptions) (core.Stage, core.Query, error) {
	stage := *r.config.Stage
	stage.Settings = withK(settingsOf(&stage), *common.TopK)
	q := core.Query{Text: query, SubQueries: own.subQueries, Scope: r.config.Scope}
	q.Scope.Filter, q.Scope.Tenant = own.filter, own.tenant
	if len(common.DSLInfo) > 0 {
		return stage, q, fmt.Errorf("integrations/eino: %w: DSLInfo; conditions go into WithFilter", core.ErrUnsupported)
	}
	if common.Index != nil && *common.Index != r.config.Index {
		return stage, q, fmt.Errorf("integrations/eino: %w: the index is %q, this retriever searches %q", core.ErrInvalid, *common.Index, r.config.Index)
	}
	if common.SubIndex != nil {
		q.Scope.Partitions = []string{*common.SubIndex}
	}
	if common.Embedding != nil {
		stage.Planner.Embedder = embedder{common.Embedding}
	}
	return stage, q, nil
}

func settingsOf(stage *core.Stage) core.Settings {
	if stage.Settings == (core.Settings{}) {
		return core.DefaultPreset()
	}
	return stage.Settings
}

// withK changes how many passages are wanted; a k out of range is refused by the stage.
func withK(s core.Settings, k int) core.Settings {
	s.K, s.Candidates = k, max(s.Candidates, k)
	return s
}

func documentsOf(selection core.Selection, threshold *float64) []*schema.Document {
	documents := []*schema.Document{}
	for _, item := range selection.Items {
		if threshold != nil && item.Cosine < *threshold {
			continue
		}
		d := &schema.Document{ID: item.ID.String(), Content: item.PayloadBody(), MetaData: maps.Clone(item.Payload)}
		if d.MetaData == nil {
			d.MetaData = map[string]any{}
		}
		covers := make([]string, len(item.Covers))
		for i, j := range item.Covers {
			covers[i] = selection.Trace.SubQueries[j].Text
		}
		d.MetaData[MetaCovers] = covers
		documents = append(documents, d.WithScore(item.Cosine).WithDenseVector(widen(item.Vector)))
	}
	return documents
}
