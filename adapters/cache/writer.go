package cache

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/georag/georag/core"
)

// SubQueryWriter returns next with its sub-queries kept, by question and number asked for. An answer with fewer than
// asked for is not kept, so that the next caller has another chance.
func (c *Cache) SubQueryWriter(next core.SubQueryWriter) core.SubQueryWriter {
	return &writer{SubQueryWriter: next, cache: c}
}

type writer struct {
	core.SubQueryWriter
	cache *Cache
}

// Fingerprint is the wrapped writer's.
func (w *writer) Fingerprint() string { return fingerprint(w.SubQueryWriter) }

func (w *writer) WriteSubQueries(ctx context.Context, question string, n int) (core.SubQueries, error) {
	k := keyOf("sub-queries", fingerprint(w.SubQueryWriter), strconv.Itoa(n), question)
	if value, ok := w.cache.get(k); ok {
		var kept core.SubQueries
		if json.Unmarshal(value, &kept.Texts) == nil && len(kept.Texts) > 0 {
			return kept, nil
		}
	}
	written, err := flight(ctx, w.cache, k, whole, func(ctx context.Context) (core.SubQueries, error) {
		written, err := w.SubQueryWriter.WriteSubQueries(ctx, question, n)
		if err == nil && whole(written) {
			w.keep(k, written.Texts)
		}
		return written, err
	})
	written.Texts = slices.Clone(written.Texts) // others got the same slice
	return written, err
}

func (w *writer) keep(k key, texts []string) {
	if value, err := json.Marshal(texts); err == nil {
		w.cache.put(map[key][]byte{k: value})
	}
}

func whole(written core.SubQueries) bool { return written.Degraded == "" && len(written.Texts) > 0 }

// PassageWriter returns next with its passages kept, by question. next is to have a Fingerprint; name stands for it
// where it has none.
func (c *Cache) PassageWriter(next core.PassageWriter, name string) core.PassageWriter {
	if f, ok := next.(fingerprinted); ok {
		name = f.Fingerprint()
	}
	return &passageWriter{next: next, name: name, cache: c}
}

type passageWriter struct {
	next  core.PassageWriter
	name  string
	cache *Cache
}

func (w *passageWriter) WritePassage(ctx context.Context, question string) (string, error) {
	k := keyOf("passage", w.name, question)
	if value, ok := w.cache.get(k); ok {
		return string(value), nil
	}
	return flight(ctx, w.cache, k, always, func(ctx context.Context) (string, error) {
		passage, err := w.next.WritePassage(ctx, question)
		if err == nil && passage != "" {
			w.cache.put(map[key][]byte{k: []byte(passage)})
		}
		return passage, err
	})
}
