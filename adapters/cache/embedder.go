package cache

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/georag/georag/core"
)

// Embedder returns next with its vectors kept. Texts that are not in the cache go to next in one call.
func (c *Cache) Embedder(next core.Embedder) core.Embedder {
	return &embedder{Embedder: next, cache: c}
}

type embedder struct {
	core.Embedder
	cache *Cache
}

func (e *embedder) EmbedQueries(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, "embed query", texts, e.Embedder.EmbedQueries)
}

func (e *embedder) EmbedPassages(ctx context.Context, texts []string) ([][]float32, error) {
	return e.embed(ctx, "embed passage", texts, e.Embedder.EmbedPassages)
}

// Fingerprint is the wrapped embedder's.
func (e *embedder) Fingerprint() string { return fingerprint(e.Embedder) }

// CheckDimension is the wrapped embedder's, where it has one, since a dimension from the cache proves nothing.
func (e *embedder) CheckDimension(ctx context.Context, collection int) error {
	checker, ok := e.Embedder.(interface {
		CheckDimension(context.Context, int) error
	})
	if !ok {
		return nil
	}
	return checker.CheckDimension(ctx, collection)
}

func (e *embedder) embed(ctx context.Context, kind string, texts []string, call func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	places := map[key][]int{} // of each text that is missing
	var missing []key
	var wanted []string
	for i, text := range texts {
		k := keyOf(kind, fingerprint(e.Embedder), text)
		if _, asked := places[k]; !asked {
			if value, ok := e.cache.get(k); ok {
				if vectors[i] = decode(value); vectors[i] != nil {
					continue
				}
			}
			missing, wanted = append(missing, k), append(wanted, text)
		}
		places[k] = append(places[k], i)
	}
	if len(missing) == 0 {
		return vectors, nil
	}
	fresh, err := flight(ctx, e.cache, together(missing), always, func(ctx context.Context) ([][]byte, error) {
		return e.fetch(ctx, missing, wanted, call)
	})
	if err != nil {
		return nil, err
	}
	for m, k := range missing {
		for _, i := range places[k] {
			vectors[i] = decode(fresh[m])
		}
	}
	return vectors, nil
}

// fetch embeds texts and keeps their vectors.
func (e *embedder) fetch(ctx context.Context, keys []key, texts []string, call func(context.Context, []string) ([][]float32, error)) ([][]byte, error) {
	vectors, err := call(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("adapters/cache: %w: the embedder returned %d vectors for %d texts", core.ErrUnavailable, len(vectors), len(texts))
	}
	encoded, kept := make([][]byte, len(keys)), make(map[key][]byte, len(keys))
	for i, k := range keys {
		encoded[i] = encode(vectors[i])
		kept[k] = encoded[i]
	}
	e.cache.put(kept)
	return encoded, nil
}

// together is the key of a call for several texts.
func together(keys []key) key {
	var all strings.Builder
	for _, k := range keys {
		all.Write(k[:])
	}
	return keyOf("together", all.String())
}

func always[T any](T) bool { return true }

// encode writes the components as little-endian 32-bit floats.
func encode(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// decode returns nil for bytes that are no vector.
func decode(value []byte) []float32 {
	if len(value) == 0 || len(value)%4 != 0 {
		return nil
	}
	v := make([]float32, len(value)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(value[4*i:]))
	}
	return v
}
