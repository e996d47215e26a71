package clients

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// rerankKey is longer than any prefix that clients require.
const rerankKey = openKey

// documents to rerank; two pairs say the same.
var documents = []string{
	"The novelist was born in Prague in 1883.",
	"Prague lies on the Vltava river.",
	"The Vltava flows through the city of Prague.",
	"Bread is baked from flour, water and salt.",
	"The novelist, born in Prague in 1883, wrote in German.",
	"The Danube flows through Vienna and Budapest.",
	"Salt dissolves in water.",
	"A novel is a long work of fiction.",
}

// TestRerankClients runs the Python clients of the rerank protocols against the service. Each must end up with the
// documents in the service's selection order, whatever the client sorts by.
func TestRerankClients(t *testing.T) {
	s := serve(t, `
store:
  qdrant: {addr: "`+startUpstream(t, "").Addr()+`", collection: demo}
embedder: {static: true}
writer: {rules: true}
server: {listen: LISTEN, timeouts: {drain: 0s}, auth: {keys_file: `+keysFile(t)+`}}
`)
	body, err := json.Marshal(map[string]any{"model": "any", "query": question, "documents": documents})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v2/rerank", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+rerankKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var native struct {
		Results []struct {
			Index int `json:"index"`
		} `json:"results"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&native); err != nil || len(native.Results) != len(documents) {
		t.Fatalf("%s: %d results, %v", answer.Status, len(native.Results), err)
	}
	var want []int
	for _, r := range native.Results {
		want = append(want, r.Index)
	}
	input, err := json.Marshal(map[string]any{"query": question, "documents": documents, "key": rerankKey})
	if err != nil {
		t.Fatal(err)
	}
	var found map[string]struct {
		Order  []int     `json:"order"`
		Scores []float64 `json:"scores"`
		Error  string    `json:"error"`
	}
	decode(t, python(t, "rerank_clients_check.py", "requirements-rerank.txt", string(input), s.url), &found)
	if len(found) != 10 {
		t.Errorf("%d clients were run, want 10", len(found))
	}
	for name, client := range found {
		expected := want
		if strings.HasSuffix(name, "_top_n") {
			expected = want[:3]
		}
		if client.Error != "" || !slices.Equal(client.Order, expected) {
			t.Errorf("%s: order %v, want %v; %s", name, client.Order, expected, client.Error)
		}
		for i := range client.Scores[:max(0, len(client.Scores)-1)] {
			if client.Scores[i] <= client.Scores[i+1] {
				t.Errorf("%s: scores %v do not fall", name, client.Scores)
				break
			}
		}
	}
}
