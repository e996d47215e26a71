package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/georag/georag/core"
)

// checkScoped requires that the main search, every sub-query search and Fetch see exactly the passages keep admits.
func (b Backend) checkScoped(t *testing.T, s core.Store, c Collection, scope core.Scope, keep func(core.Candidate) bool) {
	t.Helper()
	qs := queries(11, c.Dimension)
	req := core.SearchRequest{Vector: qs[0], K: 30, SubQueries: qs[1:], Depth: 20, OutsideVectors: true, Scope: scope}
	result := mustSearch(t, s, req)
	b.checkRanking(t, "main", c, qs[0], result.Candidates, c.nearest(qs[0], 30, keep))
	passages := c.byID()
	for j, sub := range result.SubQueries {
		b.checkRanking(t, fmt.Sprintf("sub-query %d", j), c, qs[j+1], sub.Hits, c.nearest(qs[j+1], 20, keep))
		for _, hit := range sub.Hits {
			if !keep(passages[hit.ID]) {
				t.Errorf("sub-query %d: id %v is outside the scope", j, hit.ID)
			}
		}
	}
	var admitted []core.ID
	for _, p := range c.Passages {
		if keep(p) {
			admitted = append(admitted, p.ID)
		}
	}
	if got := idsOf(mustFetch(t, s, core.FetchRequest{IDs: idsOf(c.Passages), Scope: scope})); !slices.Equal(got, admitted) {
		t.Errorf("fetch in scope: %v, want %v", got, admitted)
	}
}

func fieldIs(field string, value any) func(core.Candidate) bool {
	return func(p core.Candidate) bool { return p.Payload[field] == value }
}

func testFilter(t *testing.T, b Backend) {
	c := b.ordinary()
	for i := range c.Passages {
		c.Passages[i].Payload["draft"] = i%4 == 0
	}
	s := b.open(t, c)
	for _, condition := range []struct {
		field string
		value any
	}{{"group", "group-1"}, {"year", int64(1995)}, {"draft", true}} {
		t.Run(condition.field, func(t *testing.T) {
			scope := core.Scope{Filter: b.Filter(condition.field, condition.value)}
			b.checkScoped(t, s, c, scope, fieldIs(condition.field, condition.value))
		})
	}
	_, err := search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5, Scope: core.Scope{Filter: b.Filter("group", "nobody")}})
	wantError(t, "filter that matches nothing", err, core.ErrEmptyIndex)
	_, err = search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5, Scope: core.Scope{Filter: "{]=((this is no filter"}})
	wantError(t, "malformed filter", err, core.ErrInvalid)
}

func testTenant(t *testing.T, b Backend) {
	if !b.Tenants {
		t.Skip("SKIPPED: this store has no tenant key")
	}
	c := b.ordinary()
	c.TenantKey = "tenant"
	for i := range c.Passages {
		c.Passages[i].Payload["tenant"] = []string{"acme", "globex", "initech"}[i%3]
	}
	s := b.open(t, c)
	for _, tenant := range []string{"acme", "globex"} {
		b.checkScoped(t, s, c, core.Scope{Tenant: tenant}, fieldIs("tenant", tenant))
	}
	both := core.Scope{Tenant: "acme", Filter: b.Filter("year", int64(1996))}
	b.checkScoped(t, s, c, both, func(p core.Candidate) bool {
		return p.Payload["tenant"] == "acme" && p.Payload["year"] == int64(1996)
	})
	request := core.SearchRequest{Vector: queries(1, 16)[0], K: 5}
	_, err := search(t, s, request)
	wantError(t, "search without a tenant", err, core.ErrEmptyScope)
	_, err = s.Fetch(t.Context(), core.FetchRequest{IDs: idsOf(c.Passages[:3])})
	wantError(t, "fetch without a tenant", err, core.ErrEmptyScope)
	request.Scope.Tenant = "nobody"
	_, err = search(t, s, request)
	wantError(t, "tenant without passages", err, core.ErrEmptyIndex)
	for _, hostile := range []string{`acme" or tenant != "`, `acme' || '1'=='1`, "*", "%", "acme,globex"} {
		request.Scope.Tenant = hostile
		if result, err := search(t, s, request); err == nil {
			t.Errorf("tenant %q sees %v", hostile, idsOf(result.Candidates))
		}
	}
}

func testPartitions(t *testing.T, b Backend) {
	if !b.Partitions {
		t.Skip("SKIPPED: this store has no partitions")
	}
	c := b.ordinary()
	c.PartitionKey = "part"
	for i := range c.Passages {
		c.Passages[i].Payload["part"] = []string{"north", "south", "east"}[i%3]
	}
	s := b.open(t, c)
	b.checkScoped(t, s, c, core.Scope{Partitions: []string{"south"}}, fieldIs("part", "south"))
	b.checkScoped(t, s, c, core.Scope{Partitions: []string{"north", "east"}}, func(p core.Candidate) bool {
		return p.Payload["part"] != "south"
	})
	_, err := search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5, Scope: core.Scope{Partitions: []string{"nowhere"}}})
	wantError(t, "unknown partition", err, core.ErrNotFound)
}

func testEmptyScope(t *testing.T, b Backend) {
	c := b.ordinary()
	s := b.open(t, c)
	none := core.Scope{Partitions: []string{}}
	_, err := search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5, Scope: none})
	wantError(t, "search in an empty list of partitions", err, core.ErrEmptyScope)
	_, err = s.Fetch(t.Context(), core.FetchRequest{IDs: idsOf(c.Passages[:3]), Scope: none})
	wantError(t, "fetch in an empty list of partitions", err, core.ErrEmptyScope)
	_, err = search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5, Scope: core.Scope{Tenant: "acme"}})
	wantError(t, "tenant named to a store without a tenant key", err, core.ErrInvalid)
}

func testEmptyCollection(t *testing.T, b Backend) {
	s := b.open(t, corpus(0, 16, b.Metrics[0], b.IDs[0]))
	_, err := search(t, s, core.SearchRequest{Vector: queries(1, 16)[0], K: 5})
	wantError(t, "search in an empty collection", err, core.ErrEmptyIndex)
	if found := mustFetch(t, s, core.FetchRequest{IDs: []core.ID{b.IDs[0].id(1)}}); len(found) != 0 {
		t.Errorf("fetch in an empty collection found %v", idsOf(found))
	}
}
