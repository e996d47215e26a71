package httpapi

import (
	"encoding/json"
	"strings"
)

// protocol is the shape in which a rerank request came and its answer goes.
type protocol int

const (
	protocolUnknown protocol = iota // an answer before the request was understood
	protocolCohere                  // Cohere v2
	protocolJina                    // Jina v1, vLLM and Cohere v1
	protocolTEI
)

// protocolOf tells TEI by its "texts", and the others by the path.
func protocolOf(path string, body []byte) protocol {
	var probe struct {
		Texts json.RawMessage `json:"texts"`
	}
	switch {
	case json.Unmarshal(body, &probe) == nil && probe.Texts != nil:
		return protocolTEI
	case strings.HasPrefix(path, "/v2/"):
		return protocolCohere
	}
	return protocolJina
}

// RankedDocument is a document's place. Scores strictly decrease in selection order.
type RankedDocument struct {
	Index          int           `json:"index"`
	RelevanceScore float64       `json:"relevance_score"`
	Document       *RankedSource `json:"document,omitempty"`
}

// RankedSource repeats a document.
type RankedSource struct {
	Text string `json:"text"`
}

// CohereResponse is the answer on /v2/rerank.
type CohereResponse struct {
	ID      string           `json:"id"`
	Results []RankedDocument `json:"results"`
	Meta    CohereMeta       `json:"meta"`
}

// CohereMeta is what Cohere's clients read beside the results.
type CohereMeta struct {
	APIVersion  CohereVersion `json:"api_version"`
	BilledUnits CohereUnits   `json:"billed_units"`
}

// CohereVersion names the protocol's version.
type CohereVersion struct {
	Version string `json:"version"`
}

// CohereUnits is always one search.
type CohereUnits struct {
	SearchUnits int `json:"search_units"`
}

// JinaResponse is the answer on /rerank and /v1/rerank.
type JinaResponse struct {
	ID      string           `json:"id"`
	Model   string           `json:"model"`
	Usage   JinaUsage        `json:"usage"`
	Results []RankedDocument `json:"results"`
	Meta    CohereMeta       `json:"meta"`
}

// JinaUsage counts the words read, for there is no tokenizer here.
type JinaUsage struct {
	TotalTokens int `json:"total_tokens"`
}

// TEIRank is one element of the answer to a TEI request.
type TEIRank struct {
	Index int     `json:"index"`
	Score float64 `json:"score"`
	Text  string  `json:"text,omitempty"`
}

// answer gives a ranking the form of its protocol.
func (p protocol) answer(id string, rank ranking) any {
	score := func(place int) float64 { return 1 - float64(place)/float64(len(rank.order)) }
	if p == protocolTEI {
		ranks := make([]TEIRank, len(rank.order))
		for place, i := range rank.order {
			ranks[place] = TEIRank{Index: i, Score: score(place)}
			if rank.request.ReturnText {
				ranks[place].Text = rank.texts[i]
			}
		}
		return ranks
	}
	repeat := p == protocolJina
	overwrite(&repeat, rank.request.ReturnDocuments)
	results := make([]RankedDocument, rank.top)
	for place, i := range rank.order[:rank.top] {
		results[place] = RankedDocument{Index: i, RelevanceScore: score(place)}
		if repeat {
			results[place].Document = &RankedSource{Text: rank.request.Documents[i].Text}
		}
	}
	meta := func(version string) CohereMeta {
		return CohereMeta{APIVersion: CohereVersion{Version: version}, BilledUnits: CohereUnits{SearchUnits: 1}}
	}
	if p == protocolCohere {
		return CohereResponse{ID: id, Results: results, Meta: meta("2")}
	}
	words := len(strings.Fields(rank.request.Query))
	for _, text := range rank.texts {
		words += len(strings.Fields(text))
	}
	return JinaResponse{ID: id, Model: rank.request.Model, Usage: JinaUsage{TotalTokens: words}, Results: results, Meta: meta("1")}
}

// RerankError is a fault where the protocol is Cohere's, Jina's or vLLM's: each of their clients finds the message
// where it looks for it.
type RerankError struct {
	Error   ErrorDetail `json:"error"`   // vLLM, and this service
	Message string      `json:"message"` // Cohere
	Detail  string      `json:"detail"`  // Jina
}

// TEIError is a fault where the protocol is TEI's.
type TEIError struct {
	Error     string `json:"error"`
	ErrorType string `json:"error_type"`
	Code      Code   `json:"code"`
	Field     string `json:"field,omitempty"`
}

func unknownShape(f *Fault) any {
	return RerankError{Error: f.detail(), Message: f.Message, Detail: f.Message}
}

// shaped gives a fault the form of the protocol.
func (p protocol) shaped(f *Fault) *Fault {
	if p != protocolTEI {
		f.body = unknownShape(f)
		return f
	}
	kind := "Backend"
	switch {
	case f.Status == 429:
		kind = "Overloaded"
	case f.Status == 503:
		kind = "Unhealthy"
	case f.Status < 500:
		kind, f.Status = "Validation", 422
	}
	f.body = TEIError{Error: f.Message, ErrorType: kind, Code: f.Code, Field: f.Field}
	return f
}
