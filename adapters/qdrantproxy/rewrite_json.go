package qdrantproxy

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/georag/georag/core"
	"github.com/georag/georag/internal/selectproxy"
)

// only is the query restricted to the given points.
func (q query) only(ids []core.ID) selectproxy.Fields {
	restricted := maps.Clone(q.Fields)
	must := []any{map[string]any{"has_id": ids}}
	if filter, ok := q.Fields["filter"]; ok {
		must = append(must, filter)
	}
	restricted["filter"] = encode(map[string]any{"must": must})
	restricted["limit"] = encode(len(ids))
	return restricted
}

// encode marshals what consists of JSON and IDs, which always marshal.
func encode(value any) json.RawMessage {
	encoded, _ := json.Marshal(value)
	return encoded
}

// points are what Qdrant found for one query.
type points struct {
	Points []json.RawMessage `json:"points"`
}

// inOrder brings the points into the order of ids. Points that are gone meanwhile are left out.
func (p points) inOrder(ids []core.ID) (points, error) {
	found := make(map[core.ID]json.RawMessage, len(p.Points))
	for _, raw := range p.Points {
		var point struct {
			ID core.ID `json:"id"`
		}
		if err := json.Unmarshal(raw, &point); err != nil {
			return points{}, err
		}
		found[point.ID] = raw
	}
	ordered := points{Points: []json.RawMessage{}}
	for _, id := range ids {
		if raw, ok := found[id]; ok {
			ordered.Points = append(ordered.Points, raw)
		}
	}
	return ordered, nil
}

// envelope changes the result within an answer and the time it took, and leaves the rest as it came.
func envelope(body []byte, started time.Time, change func(result json.RawMessage) (any, error)) ([]byte, error) {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	result, err := change(answer["result"])
	if err != nil {
		return nil, err
	}
	if answer == nil {
		return nil, fmt.Errorf("it is null")
	}
	answer["result"], answer["time"] = encode(result), encode(time.Since(started).Seconds())
	return json.Marshal(answer)
}

// answerQuery brings the answer to one query into selection order.
func answerQuery(body []byte, started time.Time, ids []core.ID) ([]byte, error) {
	return envelope(body, started, func(result json.RawMessage) (any, error) {
		var found points
		if err := json.Unmarshal(result, &found); err != nil {
			return nil, err
		}
		return found.inOrder(ids)
	})
}

// answerBatch brings the answers to a batch into selection order. Queries without an ID were not sent.
func answerBatch(body []byte, started time.Time, ids [][]core.ID) ([]byte, error) {
	return envelope(body, started, func(result json.RawMessage) (any, error) {
		var found []points
		if err := json.Unmarshal(result, &found); err != nil {
			return nil, err
		}
		all := make([]points, len(ids))
		for i := range ids {
			all[i].Points = []json.RawMessage{}
			if len(ids[i]) == 0 {
				continue
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("there are fewer results than queries")
			}
			var err error
			if all[i], err = found[0].inOrder(ids[i]); err != nil {
				return nil, err
			}
			found = found[1:]
		}
		return all, nil
	})
}
