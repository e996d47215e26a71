package clients

import (
	"encoding/json"
	"net"
	"slices"
	"strings"
	"testing"
)

// pythonPoint is a point as qdrant_client_check.py shows it.
type pythonPoint struct {
	ID     uint64  `json:"id"`
	Score  float64 `json:"score"`
	Tenant string  `json:"tenant"`
	Vector int     `json:"vector"`
}

func pythonIDs(points []pythonPoint) []uint64 {
	var ids []uint64
	for _, p := range points {
		ids = append(ids, p.ID)
	}
	return ids
}

// TestPythonClient runs Qdrant's official Python client against the proxy, over REST and gRPC.
func TestPythonClient(t *testing.T) {
	f := serveQdrant(t, "", "")
	vector, err := json.Marshal(embed(t, question)[0])
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(f.grpc)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Warnings     []string        `json:"warnings"`
		Exists       bool            `json:"exists"`
		Count        int             `json:"count"`
		Plain        []pythonPoint   `json:"plain"`
		Scrolled     [][]any         `json:"scrolled"`
		Selected     []pythonPoint   `json:"selected"`
		Filtered     []pythonPoint   `json:"filtered"`
		Batch        [][]pythonPoint `json:"batch"`
		Refused      string          `json:"refused"`
		GRPC         []pythonPoint   `json:"grpc"`
		GRPCSelected []pythonPoint   `json:"grpc_selected"`
	}
	decode(t, python(t, "qdrant_client_check.py", "requirements-qdrant.txt", string(vector), f.url, port, question), &found)
	direct, err := goClient(t, f.upstream.Addr(), "").Query(t.Context(), query(t, 5))
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(found.Warnings, func(w string) bool { return strings.Contains(w, "obtain") }) {
		t.Errorf("the client cannot tell the version: %v", found.Warnings)
	}
	if !found.Exists || found.Count < 100 || len(found.Scrolled) != 2 {
		t.Errorf("exists %v, %d points, scrolled %v", found.Exists, found.Count, found.Scrolled)
	}
	if want := idsOf(direct); !slices.Equal(pythonIDs(found.Plain), want) || !slices.Equal(pythonIDs(found.GRPC), want) {
		t.Errorf("unselected: %v over REST, %v over gRPC, want %v", found.Plain, found.GRPC, want)
	}
	want := f.native(t, 5, "")
	if !slices.Equal(pythonIDs(found.Selected), want) || !slices.Equal(pythonIDs(found.GRPCSelected), want) {
		t.Errorf("selected %v over REST, %v over gRPC, want %v", found.Selected, found.GRPCSelected, want)
	}
	for _, p := range found.Selected {
		if p.Score == 0 || p.Tenant == "" || p.Vector < 100 {
			t.Errorf("selected point %+v", p)
		}
	}
	if got, want := pythonIDs(found.Filtered), f.native(t, 5, `{"must":[{"key":"tenant","match":{"value":"a"}}]}`); !slices.Equal(got, want) {
		t.Errorf("filtered %v, want %v", got, want)
	}
	if len(found.Batch) != 2 || len(found.Batch[0]) != 5 || len(found.Batch[1]) != 3 || slices.ContainsFunc(found.Batch[1], func(p pythonPoint) bool { return p.Tenant != "a" }) {
		t.Errorf("batch %v", found.Batch)
	}
	if !strings.Contains(found.Refused, "400") || !strings.Contains(found.Refused, "offset") {
		t.Errorf("an offset is refused with %q", found.Refused)
	}
}
