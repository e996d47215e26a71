package core

import (
	"time"

	"github.com/georag/georag/core/measure"
	"github.com/georag/georag/core/pick"
)

// Selection is the answer of a [Stage].
type Selection struct {
	// Items in selection order.
	Items []Selected `json:"items"`
	// Trace explains every choice. For the same input it is the same, byte for byte, when marshalled.
	Trace Trace `json:"trace"`
	// Timings differ from run to run and so stand apart from the trace.
	Timings Timings `json:"timings"`
}

// IDs returns the chosen IDs in selection order.
func (s Selection) IDs() []ID {
	ids := make([]ID, len(s.Items))
	for i, item := range s.Items {
		ids[i] = item.ID
	}
	return ids
}

// Selected is one chosen passage.
type Selected struct {
	Candidate
	// Cosine to the question, whatever the store's metric.
	Cosine float64 `json:"cosine"`
	// Covers lists the kept sub-queries, by their index in Trace.SubQueries, that this passage answers at a
	// cosine above [CoverageThreshold].
	Covers []int `json:"covers"`
}

// Trace explains a selection.
type Trace struct {
	Preset   string `json:"preset"`
	Selector string `json:"selector"`
	// Mode names the computation that ran, which a fallback can change.
	Mode   string     `json:"mode"`
	Pool   Pool       `json:"pool"`
	Models ModelNames `json:"models"`

	Candidates int `json:"candidates"` // that competed
	Outside    int `json:"outside"`    // of those, hits of sub-queries beyond the main K

	SubQueries []SubQueryTrace `json:"subqueries"`
	// Demand over the candidates that competed, in ID order; sums to 1.
	Demand []DemandShare `json:"demand"`
	Steps  []StepTrace   `json:"steps"`
	// Objective is F_P of the chosen passages, the facility location objective on the demand: 1 where each
	// candidate the question needs has a chosen passage identical to it.
	Objective float64      `json:"demand_objective"`
	Filter    *FilterTrace `json:"filter,omitempty"`

	// Conversions says how scores were made "higher is better".
	Conversions []string `json:"conversions,omitempty"`
	// Degraded lists why the result is less than what was asked for; empty where it is not.
	Degraded []Reason `json:"degraded"`
}

// ModelNames tells which models wrote and embedded; empty where the caller brought the vectors.
type ModelNames struct {
	Embedder string `json:"embedder,omitempty"`
	Writer   string `json:"writer,omitempty"`
	Reranker string `json:"reranker,omitempty"`
}

// SubQueryTrace is one sub-query as written. Those that max-min left out have Kept false and no figures.
type SubQueryTrace struct {
	Text    string  `json:"text"`
	Kept    bool    `json:"kept"`
	Overlap float64 `json:"overlap"`
	Novelty float64 `json:"novelty"`
	Quality float64 `json:"quality"`
	Weight  float64 `json:"weight"`
	Drifted bool    `json:"drifted,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// DemandShare is the share of the question's demand that stands at one candidate.
type DemandShare struct {
	ID    ID      `json:"id"`
	Share float64 `json:"share"`
}

// StepTrace is one greedy step.
type StepTrace struct {
	ID           ID        `json:"id"`
	Rule         pick.Rule `json:"rule"`
	Gain         float64   `json:"gain"`
	Gate         float64   `json:"gate"`
	DeltaW       float64   `json:"delta_w"`
	W            float64   `json:"w"`
	RunnerUp     ID        `json:"runner_up"`
	RunnerUpGain float64   `json:"runner_up_gain"`
	// NewlyCovers lists the kept sub-queries that no earlier step covered.
	NewlyCovers []int `json:"newly_covers"`
}

// FilterTrace tells what a filter dropped, and what it went by.
type FilterTrace struct {
	Name string `json:"name"`
	// Looked lists the candidates that the filter looked at, nearest first; the others were dropped unseen.
	Looked []FilterLook `json:"looked,omitempty"`
	// Eta is the longest edge to the question that keeps a candidate (ricci).
	Eta     float64 `json:"eta,omitempty"`
	Dropped []ID    `json:"dropped"`
	Saved   []ID    `json:"saved,omitempty"` // kept only because a sub-query needs them
	Note    string  `json:"note,omitempty"`
}

// FilterLook is how a filter saw one candidate. Where the filter could not be applied, Length and Community are
// absent.
type FilterLook struct {
	ID ID `json:"id"`
	// Length is the final length of the candidate's edge to the question, all edges having mean 1 (ricci), or its
	// distance to the centre of the question's cluster (kmeans).
	Length *float64 `json:"length,omitempty"`
	// Community is a component that remains when the edges longer than η are cut (ricci), or a cluster (kmeans); 0
	// is the question's own, the others are numbered by their nearest candidate.
	Community *int `json:"community,omitempty"`
	Kept      bool `json:"kept"`
}

// Reason is one cause of a degraded result. Code is stable, Detail is for people.
type Reason struct {
	Code   ReasonCode `json:"code"`
	Detail string     `json:"detail"`
}

// ReasonCode names a kind of degradation.
type ReasonCode string

const (
	ReasonNoSubQueries     ReasonCode = "no_subqueries"       // none given, or the writer or embedder is down
	ReasonFewSubQueries    ReasonCode = "few_subqueries"      // the writer wrote fewer than asked
	ReasonSubQueryFailed   ReasonCode = "subquery_failed"     // one of the m searches failed, or its vector is unusable
	ReasonWeights          ReasonCode = "weights_fell_back"   // no sub-query passed the checks
	ReasonDemand           ReasonCode = "demand_fell_back"    // the likelihood has no mass
	ReasonFewerThanK       ReasonCode = "fewer_than_k"        // fewer than k candidates competed, after any filter
	ReasonCandidate        ReasonCode = "candidate_set_aside" // a stored vector is missing or unusable
	ReasonDuplicateID      ReasonCode = "duplicate_id"        // the store returned an ID twice
	ReasonOutsideMissing   ReasonCode = "outside_missing"     // hits of sub-queries could not be fetched
	ReasonFilter           ReasonCode = "filter_fell_back"    // the filter kept all or none
	ReasonSelectorFellBack ReasonCode = "selector_fell_back"  // another selector answered
	ReasonSelector         ReasonCode = "selector_degraded"   // the selector itself says so
	ReasonHyDE             ReasonCode = "hyde_fell_back"      // no hypothetical passage; the question's vector was used
)

// Timings of one selection.
type Timings struct {
	Plan   time.Duration `json:"plan_ns"`   // writing and embedding
	Store  time.Duration `json:"store_ns"`  // waiting for the store
	Demand time.Duration `json:"demand_ns"` // pool, geometry and demand
	Filter time.Duration `json:"filter_ns"`
	Pick   time.Duration `json:"pick_ns"`
	Total  time.Duration `json:"total_ns"`
	Calls  []Call        `json:"calls"`
}

// Arrow names a part of the flow that [Timings] gives the time of.
type Arrow string

const (
	ArrowPlan   Arrow = "plan"
	ArrowStore  Arrow = "store"
	ArrowDemand Arrow = "demand"
	ArrowFilter Arrow = "filter"
	ArrowPick   Arrow = "pick"
)

// Arrows lists the arrows in the order of the flow.
func Arrows() []Arrow { return []Arrow{ArrowPlan, ArrowStore, ArrowDemand, ArrowFilter, ArrowPick} }

// CoverageThreshold is the cosine above which a passage counts as answering a sub-query.
const CoverageThreshold = measure.CoverageThreshold
