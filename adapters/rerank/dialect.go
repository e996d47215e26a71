package rerank

import (
	"encoding/json"
	"fmt"
)

// dialect is what distinguishes one API from another.
type dialect struct {
	base       string // of the vendor's own service, "" where there is none
	path       string
	needsModel bool
	limit      int // passages in a request
	request    func(c Config, query string, passages []string) any
	decode     func(answer json.RawMessage) ([]score, error)
}

// score is one passage's, by its place in the request. Pointers tell a field that is absent from one that is 0.
type score struct {
	index *int
	value *float64
}

var dialects = map[API]dialect{
	APICohere: {"https://api.cohere.com", "/v2/rerank", true, 1000, cohereRequest, decodeResults},
	APIJina:   {"https://api.jina.ai/v1", "/rerank", true, 1000, jinaRequest, decodeResults},
	APITEI:    {"", "/rerank", false, 32, teiRequest, decodeTEI},
	APIVoyage: {"https://api.voyageai.com/v1", "/rerank", true, 1000, voyageRequest, decodeVoyage},
	APIVLLM:   {"", "/rerank", false, 1000, vllmRequest, decodeResults},
}

func cohereRequest(c Config, query string, passages []string) any {
	return struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
		MaxTokens int      `json:"max_tokens_per_doc,omitempty"`
	}{c.Model, query, passages, len(passages), c.Truncation.Tokens}
}

func jinaRequest(c Config, query string, passages []string) any {
	return struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
		Return    bool     `json:"return_documents"`
	}{c.Model, query, passages, len(passages), false}
}

func teiRequest(c Config, query string, passages []string) any {
	return struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate *bool    `json:"truncate,omitempty"`
		Side     string   `json:"truncation_direction,omitempty"`
	}{query, passages, c.Truncation.Enabled, teiSide(c.Truncation.Side)}
}

// teiSide spells the side as TEI's API does.
func teiSide(side string) string {
	return map[string]string{"left": "Left", "right": "Right"}[side]
}

func voyageRequest(c Config, query string, passages []string) any {
	return struct {
		Query      string   `json:"query"`
		Documents  []string `json:"documents"`
		Model      string   `json:"model"`
		TopK       int      `json:"top_k"`
		Return     bool     `json:"return_documents"`
		Truncation *bool    `json:"truncation,omitempty"`
	}{query, passages, c.Model, len(passages), false, c.Truncation.Enabled}
}

func vllmRequest(c Config, query string, passages []string) any {
	return struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
		Tokens    int      `json:"truncate_prompt_tokens,omitempty"`
	}{c.Model, query, passages, len(passages), c.Truncation.Tokens}
}

type relevance struct {
	Index *int     `json:"index"`
	Score *float64 `json:"relevance_score"`
}

// decodeResults reads the shape of Cohere, Jina and vLLM.
func decodeResults(answer json.RawMessage) ([]score, error) {
	var in struct {
		Results *[]relevance `json:"results"`
	}
	if err := json.Unmarshal(answer, &in); err != nil || in.Results == nil {
		return nil, shapeError("results", err)
	}
	return relevances(*in.Results), nil
}

func decodeVoyage(answer json.RawMessage) ([]score, error) {
	var in struct {
		Data *[]relevance `json:"data"`
	}
	if err := json.Unmarshal(answer, &in); err != nil || in.Data == nil {
		return nil, shapeError("data", err)
	}
	return relevances(*in.Data), nil
}

func relevances(in []relevance) []score {
	scores := make([]score, len(in))
	for i, r := range in {
		scores[i] = score{r.Index, r.Score}
	}
	return scores
}

func decodeTEI(answer json.RawMessage) ([]score, error) {
	var in []struct {
		Index *int     `json:"index"`
		Score *float64 `json:"score"`
	}
	if err := json.Unmarshal(answer, &in); err != nil {
		return nil, shapeError("an array", err)
	}
	scores := make([]score, len(in))
	for i, r := range in {
		scores[i] = score{r.Index, r.Score}
	}
	return scores, nil
}

func shapeError(wanted string, err error) error {
	if err != nil {
		return fmt.Errorf("%w: want %s (is the api setting right?): %w", ErrAnswer, wanted, err)
	}
	return fmt.Errorf("%w: it has no %s (is the api setting right?)", ErrAnswer, wanted)
}
