package diagnose

import "github.com/georag/georag/core"

// Report is the whole diagnosis. It marshals to JSON. Shares are in [0, 1].
type Report struct {
	Index     core.Description `json:"index"`
	Settings  core.Settings    `json:"settings"`
	Queries   int              `json:"queries"`
	Failed    []Failure        `json:"failed"`   // queries that gave no selection
	Degraded  map[string]int   `json:"degraded"` // queries whose selection was degraded, by reason
	Redundant Redundancy       `json:"redundancy"`
	Coverage  Coverage         `json:"coverage"`
	SubQuery  SubQueryHealth   `json:"subqueries"`
	Filter    *Filtered        `json:"filter,omitempty"` // where a filter ran
	Health    Health           `json:"health"`
	Advice    []Advice         `json:"advice"`
	Detail    *Detail          `json:"detail,omitempty"`
}

// Failure is a query without an answer.
type Failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// Redundancy tells how much the nearest passages repeat each other, before any selection.
type Redundancy struct {
	// TopK and Candidates are distributions over queries of the mean pairwise cosine among the k nearest
	// passages, and among all candidates. Selected is that of the k passages that selection chose.
	TopK       Distribution `json:"top_k"`
	Candidates Distribution `json:"candidates"`
	Selected   Distribution `json:"selected"`
	// DuplicateInTopK is the share of queries with two near-duplicates among the k nearest.
	DuplicateInTopK float64 `json:"duplicate_in_top_k"`
	// RedundantCandidates is the mean share of candidates that only repeat another one.
	RedundantCandidates float64 `json:"redundant_candidates"`
	// Crowded is the share of queries whose k nearest passages sit in one cluster, see [CrowdingThreshold].
	Crowded float64 `json:"crowded"`
	// Groups are the largest groups of near-duplicates met, largest first, at most [maxGroups]; GroupCount is
	// how many there are.
	Groups     [][]core.ID `json:"near_duplicate_groups"`
	GroupCount int         `json:"near_duplicate_group_count"`
}

// CrowdingThreshold is the cosine at which passages are linked into one cluster.
const CrowdingThreshold = 0.8

const maxGroups = 20

// Coverage tells which kept sub-queries have a passage above [core.CoverageThreshold].
type Coverage struct {
	// Before, After and Ceiling are distributions over queries of the share of covered sub-queries: by the k
	// nearest passages, by the k selected ones, and by all candidates that competed.
	Before  Distribution `json:"before"`
	After   Distribution `json:"after"`
	Ceiling Distribution `json:"ceiling"`
	// RecallGap is the share of all sub-queries that no candidate covers: better retrieval or more passages would
	// help, selection cannot. SelectionGap is the share that some candidate covers and no selected one.
	RecallGap    float64 `json:"recall_gap"`
	SelectionGap float64 `json:"selection_gap"`
	// AlreadyCovered is the share of queries for which the k nearest cover all that any candidate covers.
	AlreadyCovered float64 `json:"already_covered"`
	// Starved lists queries of which no candidate covers any sub-query or comes near the question itself, at most
	// [maxStarved]; StarvedShare is their share.
	Starved      []Starved `json:"starved"`
	StarvedShare float64   `json:"starved_share"`
}

// Starved is a query that the index holds little about.
type Starved struct {
	ID        string   `json:"id"`
	Text      string   `json:"text,omitempty"`
	Uncovered []string `json:"uncovered"` // sub-queries, by text where they have one
	Of        int      `json:"of"`
	Best      float64  `json:"best"` // cosine of the nearest candidate to the question
}

const maxStarved = 50

// SubQueryHealth tells of what use the sub-queries are.
type SubQueryHealth struct {
	Written float64      `json:"written"` // mean per query
	Kept    float64      `json:"kept"`    // mean per query
	Overlap Distribution `json:"overlap"` // over queries, mean of the kept ones (eq. 7)
	Novelty Distribution `json:"novelty"`
	Drifted float64      `json:"drifted"` // share of the kept ones that reach no candidate of their question
	// CosineBefore and CosineAfter are the mean pairwise cosine among a query's sub-queries before and after
	// max-min (eq. 6).
	CosineBefore Distribution `json:"cosine_before"`
	CosineAfter  Distribution `json:"cosine_after"`
}

// Level says how much a piece of advice matters.
type Level string

const (
	Alarm Level = "alarm" // something is wrong and should be mended
	Note  Level = "note"  // worth knowing
)

// Advice is one finding in words. Value is the number behind it.
type Advice struct {
	Level Level      `json:"level"`
	Code  AdviceCode `json:"code"`
	Text  string     `json:"text"`
	Value float64    `json:"value"`
}

// AdviceCode names a finding; it is stable.
type AdviceCode string
