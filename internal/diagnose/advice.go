package diagnose

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/georag/georag/core"
)

// Codes of advice. The first group are alarms.
const (
	AdviceBrokenVectors    AdviceCode = "broken_vectors"
	AdviceDimension        AdviceCode = "dimension"
	AdviceMetric           AdviceCode = "metric"
	AdviceNorms            AdviceCode = "norms"
	AdviceDuplicateVectors AdviceCode = "duplicate_vectors"
	AdviceNearDuplicates   AdviceCode = "near_duplicates"
	AdviceCrowding         AdviceCode = "crowding"
	AdviceANNRecall        AdviceCode = "ann_recall"
	AdviceMissingTopic     AdviceCode = "missing_topic"
	AdviceHubs             AdviceCode = "hubs"
	AdviceDrift            AdviceCode = "subquery_drift"
	AdviceAlike            AdviceCode = "subqueries_alike"
	AdviceFailed           AdviceCode = "failed_queries"
	AdviceSelectivity      AdviceCode = "selectivity"

	AdviceCovered   AdviceCode = "already_covered"
	AdviceGain      AdviceCode = "selection_gain"
	AdviceRecallGap AdviceCode = "recall_gap"
	AdviceDegraded  AdviceCode = "degraded"
	AdviceNoSubs    AdviceCode = "no_subqueries"
	AdviceThreshold AdviceCode = "coverage_threshold"
)

// Limits beyond which a figure is an alarm. Those of shares and recalls are judgement: low enough to stay silent on
// the healthy corpora they were tried on, high enough that what crosses them changes answers.
const (
	maxDuplicateVectors = 0.01 // share of the vectors
	maxTwins            = 0.10 // share of queries with near-duplicates among the k nearest
	maxCrowded          = 0.25 // share of queries
	minShallowRecall    = 0.95
	minDeepRecall       = 0.90
	minCosineRecall     = 0.90
	maxStarvedShare     = 0.05
	maxHubShare         = 0.20 // share of queries with one passage among their ten nearest
	minHubQueries       = 50   // below so many queries a share says little
	maxSkewness         = 10
	maxDrift            = 0.50 // share of the kept sub-queries
	maxAlike            = 0.90 // mean pairwise cosine
	minSelectivity      = 0.01
	maxNormSpread       = 1.05 // 95th over 5th percentile
	mostlyCovered       = 0.90
	noticeableGap       = 0.20
	maxRandomCosine     = 0.45 // median cosine of two random passages
)

// adviser collects findings.
type adviser struct {
	report *Report
	advice []Advice
}

func (a *adviser) say(level Level, code AdviceCode, value float64, format string, args ...any) {
	a.advice = append(a.advice, Advice{level, code, fmt.Sprintf(format, args...), value})
}

// advise says in words what the figures mean, alarms first.
func advise(r *Report, expect Expectation) []Advice {
	a := &adviser{report: r, advice: []Advice{}}
	a.vectors()
	a.configuration(expect)
	a.answers()
	a.redundancy()
	a.gaps()
	a.subQueries()
	a.notes()
	return a.advice
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// vectors judges what the scan found.
func (a *adviser) vectors() {
	h := a.report.Health
	if broken := h.Zero + h.NotFinite + h.Missing + h.WrongDimension; broken > 0 {
		a.say(Alarm, AdviceBrokenVectors, float64(broken),
			"%d of %d stored vectors are unusable (%d zero, %d with NaN or infinity, %d missing, %d of another dimension); these passages can never be selected. Embed them again; the first is %s.",
			broken, h.Scanned, h.Zero, h.NotFinite, h.Missing, h.WrongDimension, h.Broken[0])
	}
	if share := ratio(h.Duplicates, h.Scanned); share > maxDuplicateVectors {
		a.say(Alarm, AdviceDuplicateVectors, share,
			"%d vectors (%s) repeat another one bit for bit; the largest group has %d passages. Remove duplicates when indexing: each takes a place among the candidates.",
			h.Duplicates, percent(share), len(h.DuplicateGroups[0]))
	}
	if h.Hubs.Skewness > maxSkewness {
		a.say(Alarm, AdviceHubs, h.Hubs.Skewness,
			"A few passages are the neighbours of very many others (skewness of k-occurrences %.1f). Look at them for boilerplate, and consider centring the vectors.", h.Hubs.Skewness)
	}
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// configuration compares the index with what is said of it and with itself.
func (a *adviser) configuration(expect Expectation) {
	r := a.report
	if expect.Dimension > 0 && r.Index.Dimension > 0 && expect.Dimension != r.Index.Dimension {
		a.say(Alarm, AdviceDimension, float64(r.Index.Dimension),
			"The index holds vectors of dimension %d, the configuration says %d: another embedding model was used.", r.Index.Dimension, expect.Dimension)
	}
	metric, known := metricOf(r.Index.Metric)
	mismatch := expect.Metric != "" && known && metric != expect.Metric
	unit := r.Health.Norms.Count > 0 && spread(r.Health.Norms) <= maxNormSpread
	if mismatch && !(unit && metric != core.MetricManhattan && expect.Metric != core.MetricManhattan) {
		a.say(Alarm, AdviceMetric, 0,
			"The index compares by %s, the configuration says %s, and the vectors are not of one length, so the order differs. Build the index with the right metric.", r.Index.Metric, expect.Metric)
	}
	exact := r.Health.Exact
	if exact != nil && !mismatch && exact.Cosine < minCosineRecall && exact.Shallow >= minShallowRecall {
		a.say(Alarm, AdviceMetric, exact.Cosine,
			"The store ranks by %s; only %s of its first %d passages are the nearest by cosine, which is what embedding models are trained for. Normalise the vectors or use the cosine metric.", exact.Metric, percent(exact.Cosine), shallow)
	}
	if s := spread(r.Health.Norms); known && metric == core.MetricDot && s > maxNormSpread {
		a.say(Alarm, AdviceNorms, s,
			"The index compares by inner product and the norms of the vectors differ (5%% are below %.3g, 5%% above %.3g): long vectors win whatever they say.", r.Health.Norms.P5, r.Health.Norms.P95)
	}
}

func spread(norms Distribution) float64 {
	if norms.P5 == 0 {
		return 1
	}
	return norms.P95 / norms.P5
}

// answers judges searching itself.
func (a *adviser) answers() {
	r := a.report
	if len(r.Failed) > 0 {
		share := float64(len(r.Failed)) / float64(r.Queries)
		a.say(Alarm, AdviceFailed, share, "%d of %d queries got no answer; the first says: %s", len(r.Failed), r.Queries, r.Failed[0].Error)
	}
	if e := r.Health.Exact; e != nil && (e.Shallow < minShallowRecall || e.Deep < minDeepRecall) {
		doubt := ""
		if _, known := metricOf(r.Index.Metric); !known {
			doubt = fmt.Sprintf(" Or it ranks by something else than %s, which was assumed.", e.Metric)
		}
		a.say(Alarm, AdviceANNRecall, min(e.Shallow, e.Deep),
			"The index misses neighbours: recall@%d is %s and recall@%d is %s against an exhaustive search of %d queries. Raise ef or nprobe, or rebuild the index.%s",
			shallow, percent(e.Shallow), deep, percent(e.Deep), e.Queries, doubt)
	}
	if s := r.Health.Scope; s != nil && s.Share < minSelectivity {
		a.say(Alarm, AdviceSelectivity, s.Share,
			"The filter or tenant leaves %d of %d passages (%.2g%%); an approximate index may find few of them. Use a partition or an index on the filtered field.", s.Matching, s.Total, 100*s.Share)
	}
	if hubs := r.Health.Hubs.Most; r.Queries >= minHubQueries && len(hubs) > 0 && hubs[0].Share > maxHubShare {
		a.say(Alarm, AdviceHubs, hubs[0].Share,
			"Passage %s is among the ten nearest of %s of the queries, whatever they ask. Look at it for boilerplate.", hubs[0].ID, percent(hubs[0].Share))
	}
}

// redundancy judges the nearest passages.
func (a *adviser) redundancy() {
	r, k := a.report.Redundant, a.report.Settings.K
	if r.DuplicateInTopK > maxTwins {
		a.say(Alarm, AdviceNearDuplicates, r.DuplicateInTopK,
			"%s of the queries have near-duplicates among their %d nearest passages, and %s of all candidates only repeat another one. Remove them when indexing; selection avoids them meanwhile.",
			percent(r.DuplicateInTopK), k, percent(r.RedundantCandidates))
	}
	if r.Crowded > maxCrowded {
		a.say(Alarm, AdviceCrowding, r.Crowded,
			"For %s of the queries all %d nearest passages sit in one cluster (cosine above %.2g): they say much the same.", percent(r.Crowded), k, CrowdingThreshold)
	}
}

// gaps tells what the index lacks from what selection misses.
func (a *adviser) gaps() {
	c := a.report.Coverage
	if c.StarvedShare > maxStarvedShare {
		example := ""
		if len(c.Starved) > 0 {
			example = fmt.Sprintf(" The first is %s.", c.Starved[0].ID)
		}
		a.say(Alarm, AdviceMissingTopic, c.StarvedShare,
			"For %s of the queries no candidate is near the question or any of its sub-queries (cosine above %.2g): the index lacks their topic, or retrieval misses it. No selection can mend that.%s",
			percent(c.StarvedShare), core.CoverageThreshold, example)
	}
}

func (a *adviser) subQueries() {
	s := a.report.SubQuery
	if s.Drifted > maxDrift {
		a.say(Alarm, AdviceDrift, s.Drifted,
			"%s of the sub-queries reach none of their question's candidates: they have drifted from it. Look at the writer's prompt.", percent(s.Drifted))
	}
	if s.CosineAfter.Count > 0 && s.CosineAfter.Mean > maxAlike {
		a.say(Alarm, AdviceAlike, s.CosineAfter.Mean,
			"The sub-queries of a question are nearly the same (mean pairwise cosine %.2f after max-min): they ask for one thing only.", s.CosineAfter.Mean)
	}
}

func (a *adviser) notes() {
	c := a.report.Coverage
	if random := a.report.Health.RandomCosine; random > maxRandomCosine {
		a.say(Note, AdviceThreshold, random,
			"Two random passages already have a median cosine of %.2f: this embedding model uses a narrow range, so coverage at %.2g is overstated here.", random, core.CoverageThreshold)
	}
	if c.Before.Count == 0 {
		a.say(Note, AdviceNoSubs, 0, "No query has usable sub-queries: coverage and demand are not measured, and selection works from the question alone.")
		return
	}
	if c.AlreadyCovered >= mostlyCovered {
		a.say(Note, AdviceCovered, c.AlreadyCovered,
			"%s of the questions are already covered by cosine as far as any candidate can: selection will change little here.", percent(c.AlreadyCovered))
	}
	if gain := c.After.Mean - c.Before.Mean; math.Abs(gain) >= 0.005 {
		a.say(Note, AdviceGain, gain,
			"Selection covers %s of the sub-queries, the nearest passages %s; all candidates together cover %s.", percent(c.After.Mean), percent(c.Before.Mean), percent(c.Ceiling.Mean))
	}
	if c.RecallGap > noticeableGap {
		a.say(Note, AdviceRecallGap, c.RecallGap,
			"%s of the sub-queries have no candidate at a cosine above %.2g: a problem of recall (more candidates, another embedding model, missing passages) or of sub-queries that ask too much, not of selection.", percent(c.RecallGap), core.CoverageThreshold)
	}
	for _, reason := range slices.Sorted(maps.Keys(a.report.Degraded)) {
		share := float64(a.report.Degraded[reason]) / float64(a.report.Queries)
		a.say(Note, AdviceDegraded, share, "%s of the selections were degraded: %s.", percent(share), reason)
	}
}
