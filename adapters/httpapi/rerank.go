package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/memstore"
	"github.com/georag/georag/internal/strictjson"
)

// RerankRequest is the body of /rerank, /v1/rerank and /v2/rerank. It has the fields of Cohere, Jina and vLLM
// (documents, top_n) and of TEI (texts); "texts" makes it a TEI request. Fields of those protocols that do not apply
// here are accepted and ignored, as are unknown ones: their clients send more than they must.
type RerankRequest struct {
	Model     string     `json:"model,omitempty"` // repeated in the answer
	Query     string     `json:"query"`
	Documents []Document `json:"documents,omitempty"`
	TopN      *int       `json:"top_n,omitempty"` // 0 or absent is all
	TopK      *int       `json:"top_k,omitempty"` // what some clients call TopN
	// ReturnDocuments repeats the documents: absent is true on /rerank and /v1/rerank, false on /v2/rerank.
	ReturnDocuments *bool `json:"return_documents,omitempty"`

	Texts      []string `json:"texts,omitempty"`       // TEI
	ReturnText bool     `json:"return_text,omitempty"` // TEI
}

// Document is a passage to be ranked: a string, or an object with a text and perhaps a title.
type Document struct {
	Text  string `json:"text"`
	Title string `json:"title,omitempty"`
}

// UnmarshalJSON reads either form.
func (d *Document) UnmarshalJSON(data []byte) error {
	type object Document
	*d = Document{}
	return unmarshalTextOr(data, &d.Text, (*object)(d))
}

// passage is the text that is embedded.
func (d Document) passage() string {
	if d.Title == "" {
		return d.Text
	}
	return d.Title + ". " + d.Text
}

// ranking is a rerank request, whatever its protocol, and its answer.
type ranking struct {
	protocol protocol
	request  RerankRequest
	texts    []string
	top      int   // how many are returned
	order    []int // positions, best first; all of them
}

// rerank answers the rerank endpoints. Scores say the order and nothing else: the document at place i of N has
// 1 − i/N, so clients that sort by score keep the selection order.
func (s *Server) rerank(r *http.Request, body []byte) (any, error) {
	rank, err := s.readRanking(r.URL.Path, body)
	if err != nil {
		return nil, rank.protocol.shaped(FaultOf(err))
	}
	callOf(r.Context()).query = rank.request.Query
	if rank.order, err = s.rank(r.Context(), rank); err != nil {
		return nil, rank.protocol.shaped(FaultOf(err))
	}
	return rank.protocol.answer(callOf(r.Context()).id, rank), nil
}

func (s *Server) readRanking(path string, body []byte) (ranking, error) {
	rank := ranking{protocol: protocolOf(path, body)}
	if err := strictjson.Decode(body, &rank.request, strictjson.Options{Nesting: s.config.Limits.Nesting, Open: true}); err != nil {
		return rank, err
	}
	req := rank.request
	field := "documents"
	if rank.protocol == protocolTEI {
		field, rank.texts = "texts", req.Texts
	} else {
		for i, document := range req.Documents {
			if document.Text == "" {
				return rank, invalid(fmt.Sprintf("documents[%d].text", i), "is missing or empty")
			}
			rank.texts = append(rank.texts, document.passage())
		}
	}
	switch n := len(rank.texts); {
	case strings.TrimSpace(req.Query) == "":
		return rank, invalid("query", "is missing or empty")
	case len(req.Query) > s.config.Limits.Text:
		return rank, invalid("query", "has length %d, want at most %d", len(req.Query), s.config.Limits.Text)
	case n == 0:
		return rank, invalid(field, "is missing or empty")
	case n > s.config.Limits.Documents:
		return rank, invalid(field, "has length %d, want at most %d", n, s.config.Limits.Documents)
	}
	for i, text := range rank.texts {
		if text == "" {
			return rank, invalid(fmt.Sprintf("%s[%d]", field, i), "is empty")
		}
	}
	return rank, rank.limit()
}

// limit reads how many documents the client wants back.
func (r *ranking) limit() error {
	wanted, field := r.request.TopN, "top_n"
	if wanted == nil {
		wanted, field = r.request.TopK, "top_k"
	}
	r.top = len(r.texts)
	switch {
	case wanted == nil || *wanted == 0 || r.protocol == protocolTEI:
	case *wanted < 0:
		return invalid(field, "is %d, want 0 or more", *wanted)
	default:
		r.top = min(r.top, *wanted)
	}
	return nil
}

// rank returns all positions: first the selection, then the others by cosine.
func (s *Server) rank(ctx context.Context, rank ranking) ([]int, error) {
	base, _, err := s.stage("")
	if err != nil {
		return nil, err
	}
	stage := *base
	if stage.Planner.Embedder == nil {
		return nil, &Fault{Status: http.StatusNotImplemented, Code: CodeUnsupported, Message: "reranking texts needs an embedding model, and none is configured"}
	}
	vectors, err := stage.Planner.Embedder.EmbedPassages(ctx, rank.texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(rank.texts) {
		return nil, fmt.Errorf("adapters/httpapi: %w: the embedder returned %d vectors for %d texts", core.ErrUnavailable, len(vectors), len(rank.texts))
	}
	all := &rankedDocuments{Store: memstore.New(rank.texts, vectors)}
	stage.Store, stage.Observe = all, s.observing(stage.Observe)
	stage.Settings = settingsOf(base)
	stage.Settings.Pool, stage.Settings.Candidates = core.PoolDense, len(rank.texts)
	stage.Settings.K = min(rank.top, s.config.Rerank.Greedy)
	stage.Settings.Filter.Name = core.FilterNone
	selection, err := stage.Select(ctx, core.Query{Text: rank.request.Query})
	if errors.Is(err, core.ErrNoVectors) { // the vectors are those of the client's own texts
		return nil, &Fault{Status: http.StatusUnprocessableEntity, Code: CodeVector, Message: "the model finds nothing in any of the texts to rank by", cause: err}
	}
	if err != nil {
		return nil, err
	}
	s.selected(ctx, selection.Trace)
	return all.order(selection.IDs()), nil
}

// rankedDocuments keeps the order by cosine that the main search found.
type rankedDocuments struct {
	*memstore.Store
	byCosine []core.Candidate
}

func (d *rankedDocuments) Search(ctx context.Context, req core.SearchRequest) (core.SearchResult, error) {
	found, err := d.Store.Search(ctx, req)
	d.byCosine = found.Candidates
	return found, err
}

// order returns the positions of the chosen documents, then of all others.
func (d *rankedDocuments) order(chosen []core.ID) []int {
	order, placed := make([]int, 0, d.Len()), make(map[core.ID]bool, d.Len())
	place := func(id core.ID) {
		if !placed[id] {
			placed[id] = true
			i, _ := id.Int()
			order = append(order, int(i))
		}
	}
	for _, id := range chosen {
		place(id)
	}
	for _, c := range d.byCosine {
		place(c.ID)
	}
	return order
}
