package httpapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzDecodeSelect: whatever is accepted lies within the limits, and whatever is not is a fault of the client.
func FuzzDecodeSelect(f *testing.F) {
	for _, seed := range []string{
		`{"query":"a","k":3}`, `{"vector":[1,2],"subqueries":["a",{"text":"b","vector":"AACAPw=="}]}`,
		`{"query":"a","given":[{"id":1,"score":0.5},{"id":"x"}],"filter":{"must":[]},"partitions":["p"]}`, `{"vector":"AACAfw=="}`, `{"query":"a","lambda":1e308}`,
	} {
		f.Add([]byte(seed))
	}
	limits := Limits{}.withDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := decodeSelect(body, limits)
		if err != nil {
			clientsFault(t, err)
			return
		}
		if req.Query == "" && len(req.Vector.values) == 0 || len(req.SubQueries) > limits.SubQueries || req.K != nil && (*req.K < 1 || *req.K > limits.K) {
			t.Fatalf("accepted %s", body)
		}
		if _, err := json.Marshal(req); err != nil {
			t.Fatalf("accepted %s, which does not marshal again: %v", body, err)
		}
	})
}

// FuzzReadRanking is the same for the rerank protocols.
func FuzzReadRanking(f *testing.F) {
	for _, seed := range []string{
		`{"query":"a","documents":["b",{"text":"c","title":"d"}],"top_n":1,"model":"m","extra":{}}`, `{"query":"a","texts":["b"],"raw_scores":true,"return_text":true}`,
	} {
		f.Add(seed, "/v2/rerank")
		f.Add(seed, "/rerank")
	}
	s := &Server{config: Config{}.withDefaults()}
	f.Fuzz(func(t *testing.T, body, path string) {
		rank, err := s.readRanking(path, []byte(body))
		if err != nil {
			clientsFault(t, err)
			return
		}
		if rank.top < 1 || rank.top > len(rank.texts) || strings.TrimSpace(rank.request.Query) == "" {
			t.Fatalf("accepted %s", body)
		}
		for i := range rank.texts {
			rank.order = append(rank.order, i)
		}
		if _, err := json.Marshal(rank.protocol.answer("id", rank)); err != nil {
			t.Fatal(err)
		}
	})
}

func clientsFault(t *testing.T, err error) {
	if f := FaultOf(err); f.Status < 400 || f.Status > 499 || f.Code == "" {
		t.Fatalf("%d %s: %v", f.Status, f.Code, err)
	}
}

// FuzzParseKeys: no line of a keys file makes it panic or lets an empty hash in, and no error repeats the line.
func FuzzParseKeys(f *testing.F) {
	f.Add("# comment\nname sha256:" + strings.Repeat("ab", 32) + " tenant=a expires=2030-01-01T00:00:00Z\n")
	f.Add("name my-secret-key-itself")
	f.Fuzz(func(t *testing.T, text string) {
		ring, err := parseKeys([][]byte{[]byte(text)})
		if err != nil {
			return
		}
		for _, entry := range ring {
			if entry.principal.Name == "" {
				t.Fatalf("%q gives a key without a name", text)
			}
		}
		if who, ok := ring.find("", time.Now()); ok && len(ring) == 0 {
			t.Fatalf("no keys, yet %v is known", who)
		}
	})
}

func TestFaultOfAnUnknownErrorTellsNothing(t *testing.T) {
	f := FaultOf(errors.New("confidential"))
	if f.Status != 500 || strings.Contains(f.Message, "confidential") || safeCause(f.cause) != "*errors.errorString" {
		t.Errorf("%+v, %s", f, safeCause(f.cause))
	}
}
