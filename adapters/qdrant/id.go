package qdrant

import (
	"fmt"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"

	"github.com/georag/georag/core"
)

// idSpace is the namespace of the point IDs made from passages' IDs.
var idSpace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/georag/georag"))

// pointID is the point that holds the passage id where its ID is the point's own; ok is false where no point can.
func pointID(id core.ID) (p *qd.PointId, ok bool) {
	if n, natural := id.Uint(); natural {
		return qd.NewIDNum(n), true
	}
	text, textual := id.Text()
	if !textual || !canonicalUUID(text) {
		return nil, false
	}
	return qd.NewIDUUID(text), true
}

// canonicalUUID reports the form Qdrant prints, the only one that comes back as it was put in.
func canonicalUUID(text string) bool {
	u, err := uuid.Parse(text)
	return err == nil && u.String() == text
}

// derivedPointID is the point that a passage is loaded into where id_field holds its ID.
func derivedPointID(id core.ID) *qd.PointId {
	if p, ok := pointID(id); ok {
		return p
	}
	return qd.NewIDUUID(uuid.NewSHA1(idSpace, []byte(id.String())).String())
}

// loadedPointID is the point to write a passage to.
func (s *Store) loadedPointID(id core.ID) (*qd.PointId, error) {
	if id.IsZero() {
		return nil, fmt.Errorf("adapters/qdrant: upsert: %w: a passage has no id", core.ErrInvalid)
	}
	if s.cfg.IDField != "" {
		return derivedPointID(id), nil
	}
	p, ok := pointID(id)
	if !ok {
		return nil, fmt.Errorf("adapters/qdrant: upsert of id %q: %w: a point's ID is an unsigned integer or a lower-case UUID: set id_field, a payload field to keep other IDs in", id, core.ErrInvalid)
	}
	return p, nil
}

// idOf is the passage's ID: the point's own, or that in the payload field id_field.
func (s *Store) idOf(p *qd.PointId, payload map[string]*qd.Value) (core.ID, error) {
	if s.cfg.IDField == "" {
		return ownID(p), nil
	}
	switch v := payload[s.cfg.IDField].GetKind().(type) {
	case *qd.Value_StringValue:
		return core.StringID(v.StringValue), nil
	case *qd.Value_IntegerValue:
		return core.IntID(v.IntegerValue), nil
	}
	return core.ID{}, fmt.Errorf("adapters/qdrant: point %s of collection %q: %w: its payload has no text or integer in id_field %q", ownID(p), s.cfg.Collection, core.ErrInvalid, s.cfg.IDField)
}

func ownID(p *qd.PointId) core.ID {
	if u, ok := p.GetPointIdOptions().(*qd.PointId_Uuid); ok {
		return core.StringID(u.Uuid)
	}
	return core.UintID(p.GetNum())
}

// idCondition is the condition that a point is one of the passages ids; nil where none of them can exist.
func (s *Store) idCondition(ids []core.ID) *qd.Condition {
	if s.cfg.IDField != "" {
		return s.idFieldCondition(ids)
	}
	var points []*qd.PointId
	for _, id := range ids {
		if p, ok := pointID(id); ok {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return nil
	}
	return qd.NewHasID(points...)
}

func (s *Store) idFieldCondition(ids []core.ID) *qd.Condition {
	var texts []string
	var numbers []int64
	for _, id := range ids {
		if text, ok := id.Text(); ok {
			texts = append(texts, text)
		} else if n, ok := id.Int(); ok {
			numbers = append(numbers, n)
		}
	}
	var either []*qd.Condition
	if len(texts) > 0 {
		either = append(either, qd.NewMatchKeywords(s.cfg.IDField, texts...))
	}
	if len(numbers) > 0 {
		either = append(either, qd.NewMatchInts(s.cfg.IDField, numbers...))
	}
	switch len(either) {
	case 0:
		return nil
	case 1:
		return either[0]
	}
	return qd.NewFilterAsCondition(&qd.Filter{Should: either})
}
