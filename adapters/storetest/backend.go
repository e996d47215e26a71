// Package storetest is the conformance suite of [core.Store]: one set of cases that every store passes, on its real
// engine. A store's own test calls [Run] with a [Backend] that says how to make a collection and what the engine
// can do; what it cannot do is left out, everything else is required.
//
// The suite fixes what the port leaves to prose:
//   - equal scores are ordered by ID ([core.CompareID]), whatever order the engine returned them in;
//   - a search whose scope holds nothing is [core.ErrEmptyIndex]: an empty collection, a tenant or a filter that
//     matches no passage;
//   - K or Depth below 1 is [core.ErrInvalid];
//   - a sub-query vector that cannot be searched fails alone, in its SubQueryResult.Err, and the others go on;
//   - a tenant named to a store without a tenant key is [core.ErrInvalid], never ignored;
//   - integers in payloads keep every digit.
package storetest

import (
	"testing"

	"github.com/georag/georag/core"
)

// Backend is a store under test and what its engine can do.
type Backend struct {
	// Open makes a fresh collection holding c and returns a store on it. It fails the test where it cannot, and
	// removes the collection at the test's end (t.Cleanup). The suite closes the store.
	Open func(t testing.TB, c Collection) core.Store
	// Metrics the engine can search by; the first is used where the metric does not matter.
	Metrics []core.Metric
	// IDs the engine can store; the first kind is used where the kind does not matter.
	IDs []IDKind
	// Lost are the IDs that the engine itself cannot hold; the case of extreme IDs leaves them out.
	Lost []core.ID
	// Filter writes the condition "payload field equals value" (string, int64 or bool) in the store's language.
	Filter func(field string, value any) string
	// Tenants: the store can have a tenant key (Collection.TenantKey).
	Tenants bool
	// Partitions: the store can have named partitions (Collection.PartitionKey).
	Partitions bool
	// Misnamings are stores opened with one name that does not exist.
	Misnamings []Misnaming
	// Loader returns a loader for a collection that does not exist yet and a function that opens a store on it,
	// called after what was upserted has been counted. nil where the store cannot be written through the port.
	Loader func(t testing.TB, metric core.Metric, ids IDKind) (core.Loader, func() core.Store)
	// Approximate: the search may miss neighbours; 9 of 10 must be found instead of all.
	Approximate bool
	// Tolerance is how far a score or component may be off, relative to the largest. 0 is 1e-4.
	Tolerance float64
}

// Collection is what [Backend.Open] creates. Passages is empty in one case.
type Collection struct {
	Passages  []core.Candidate // ID, Vector, Payload; Score is unused
	Dimension int
	Metric    core.Metric
	IDs       IDKind
	// TenantKey is the payload field that holds each passage's tenant (a string); "" where there are none.
	TenantKey string
	// PartitionKey is the payload field that names each passage's partition; "" where there are none.
	PartitionKey string
}

// Misnaming is a store configured with a name that does not exist.
type Misnaming struct {
	What string // "collection", "vector", "tenant field": the name of the subtest
	// Open makes collection c and opens a store on it with one wrong name. wrong is that name and right is one
	// that exists: the error must contain both. err is what opening returned; where it is nil the suite
	// searches, and expects the error from there.
	Open func(t testing.TB, c Collection) (s core.Store, wrong, right string, err error)
}

// Run runs every case that b supports.
func Run(t *testing.T, b Backend) {
	if b.Open == nil || b.Filter == nil || len(b.Metrics) == 0 || len(b.IDs) == 0 {
		t.Fatal("storetest: Open, Filter, Metrics and IDs are required")
	}
	if b.Tolerance == 0 {
		b.Tolerance = 1e-4
	}
	for _, c := range []struct {
		name string
		run  func(*testing.T, Backend)
	}{
		{"order", testOrder},
		{"vectors", testVectors},
		{"sub-queries", testSubQueries},
		{"outside vectors", testOutsideVectors},
		{"more than there is", testMoreThanThereIs},
		{"large response", testLargeResponse},
		{"equal vectors", testEqualVectors},
		{"ids", testIDs},
		{"payload", testPayload},
		{"filter", testFilter},
		{"tenant", testTenant},
		{"partitions", testPartitions},
		{"empty scope", testEmptyScope},
		{"empty collection", testEmptyCollection},
		{"misnamed", testMisnamed},
		{"wrong vectors", testWrongVectors},
		{"wrong counts", testWrongCounts},
		{"context", testContext},
		{"fetch", testFetch},
		{"describe", testDescribe},
		{"scan", testScan},
		{"concurrent use", testConcurrentUse},
		{"closed", testClosed},
		{"loader", testLoader},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, b) })
	}
}

// open is Backend.Open with the store closed at the test's end.
func (b Backend) open(t testing.TB, c Collection) core.Store {
	t.Helper()
	s := b.Open(t, c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
