package eino

import (
	"github.com/cloudwego/eino/components/document"
	"github.com/cloudwego/eino/components/retriever"

	"github.com/georag/georag/core"
)

// retrieverOptions are the options of one Retrieve that Eino has no name for.
type retrieverOptions struct {
	filter, tenant string
	subQueries     []core.SubQuery
}

// WithFilter restricts a call by a condition in the store's own language: Qdrant filter JSON, a Milvus expression, or
// the flat index's conditions.
func WithFilter(condition string) retriever.Option {
	return retriever.WrapImplSpecificOptFn(func(o *retrieverOptions) { o.filter = condition })
}

// WithTenant names the tenant of a call.
func WithTenant(tenant string) retriever.Option {
	return retriever.WrapImplSpecificOptFn(func(o *retrieverOptions) { o.tenant = tenant })
}

// WithSubQueries gives the sub-queries of a call in place of those a writer would write; none given is none at all.
func WithSubQueries(texts ...string) retriever.Option {
	return retriever.WrapImplSpecificOptFn(func(o *retrieverOptions) { o.subQueries = subQueries(texts) })
}

// transformerOptions are the options of one Transform.
type transformerOptions struct {
	question   string
	k          int
	subQueries []core.SubQuery
}

// WithQuestion tells a [Transformer] what the documents are for. It is required.
func WithQuestion(question string) document.TransformerOption {
	return document.WrapTransformerImplSpecificOptFn(func(o *transformerOptions) { o.question = question })
}

// WithK says how many documents a [Transformer] keeps in this call.
func WithK(k int) document.TransformerOption {
	return document.WrapTransformerImplSpecificOptFn(func(o *transformerOptions) { o.k = k })
}

// WithParts gives a [Transformer] the sub-queries of a call in place of those its writer would write.
func WithParts(texts ...string) document.TransformerOption {
	return document.WrapTransformerImplSpecificOptFn(func(o *transformerOptions) { o.subQueries = subQueries(texts) })
}

func subQueries(texts []string) []core.SubQuery {
	list := make([]core.SubQuery, len(texts))
	for i, text := range texts {
		list[i].Text = text
	}
	return list
}
