package flat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"

	"github.com/georag/georag/core"
)

var _ core.Loader = (*Loader)(nil)

// Loader writes an index. Every Upsert is one step: after a crash at any moment the index is whole, with all of
// the passages of an Upsert or none, and what an Upsert has returned for is on the disk. Stores that are open go on
// with the index as it was when they were opened.
//
// A loader is safe for concurrent use. A folder takes one loader at a time: a second one is refused when it notices
// what the other wrote.
type Loader struct {
	cfg Config

	mu       sync.Mutex
	manifest manifest // as read or written last; Version 0 where there is no index yet
	ids      map[core.ID]struct{}
}

// NewLoader prepares to write the index in folder cfg.Dir, which need not exist. An index that is there is
// continued; so is a hand-made folder, whose own files stay as they are.
func NewLoader(cfg Config) (*Loader, error) {
	l := &Loader{cfg: cfg, ids: make(map[core.ID]struct{})}
	existing, err := Open(cfg)
	if errors.Is(err, core.ErrNotFound) && !l.hasManifest() {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	for id := range existing.rowOf {
		l.ids[id] = struct{}{}
	}
	l.manifest, _, err = readManifest(existing.where.fsys, existing.where.dir)
	if err == nil && l.manifest.Version == 0 {
		l.manifest.adopt(existing)
	}
	if err = errors.Join(err, existing.Close()); err != nil {
		return nil, fmt.Errorf("adapters/flat: %w", err)
	}
	return l, nil
}

func (l *Loader) hasManifest() bool {
	_, err := os.Stat(onDisk(l.cfg.Dir).name(manifestFile))
	return err == nil
}

// adopt makes m the manifest of a hand-made folder.
func (m *manifest) adopt(s *Store) {
	m.Version, m.Dimension, m.Metric = manifestVersion, s.dim, s.metric
	m.Parts[0].Rows = len(s.ids)
}

// Create makes an empty index where there is none. IDs may be of any kind, and every search is exact, whatever
// spec says.
func (l *Loader) Create(ctx context.Context, spec core.CollectionSpec) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("adapters/flat: create: %w", err)
	}
	metric, err := l.metric(spec.Metric)
	if err != nil {
		return err
	}
	if spec.Dimension < 1 {
		return fmt.Errorf("adapters/flat: create: %w: dimension is %d, want at least 1", core.ErrInvalid, spec.Dimension)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.manifest; m.Version != 0 {
		switch {
		case m.Dimension != spec.Dimension:
			return fmt.Errorf("adapters/flat: create %s: %w: the index has dimension %d, not %d", l.cfg.Dir, core.ErrInvalid, m.Dimension, spec.Dimension)
		case m.Metric != metric:
			return fmt.Errorf("adapters/flat: create %s: %w: the metric of the index is %s, not %s", l.cfg.Dir, core.ErrInvalid, m.Metric, metric)
		case m.Model != "" && spec.Model != "" && m.Model != spec.Model:
			return fmt.Errorf("adapters/flat: create %s: %w: the vectors of the index are by %s, not %s", l.cfg.Dir, core.ErrInvalid, m.Model, spec.Model)
		}
		return nil
	}
	if err := os.MkdirAll(l.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("adapters/flat: create: %w", err)
	}
	return l.commit(manifest{Version: manifestVersion, Dimension: spec.Dimension, Metric: metric, Model: spec.Model, Parts: []partFiles{}, Next: 1})
}

// metric settles what the specification and the configuration say.
func (l *Loader) metric(wanted core.Metric) (core.Metric, error) {
	configured := l.cfg.Metric
	switch {
	case wanted == "" && configured == "":
		return metrics[0], nil
	case wanted == "":
		return configured, nil
	case configured != "" && configured != wanted:
		return "", fmt.Errorf("adapters/flat: create: %w: metric is %q and the configured one %q", core.ErrInvalid, wanted, configured)
	}
	return wanted, Config{Metric: wanted}.Validate()
}

// Upsert writes passages, all or none. Where an ID occurs twice, the last one counts.
func (l *Loader) Upsert(ctx context.Context, passages []core.Candidate) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("adapters/flat: upsert: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.manifest.Version == 0 {
		return fmt.Errorf("adapters/flat: upsert: %w: there is no index in %s; create it first", core.ErrNotFound, l.cfg.Dir)
	}
	if len(passages) == 0 {
		return nil
	}
	lines, err := encode(passages, l.manifest.Dimension)
	if err != nil {
		return err
	}
	next, err := l.manifest.append(l.cfg.Dir, content{
		rows:   len(passages),
		line:   func(row int) ([]byte, error) { return lines[row], nil },
		vector: func(row int) []float32 { return passages[row].Vector },
	})
	if err != nil {
		return fmt.Errorf("adapters/flat: upsert: %w", err)
	}
	if err := l.commit(next); err != nil {
		return err
	}
	for _, p := range passages {
		l.ids[p.ID] = struct{}{}
	}
	return l.merge(ctx)
}

// commit replaces the manifest and removes what no longer belongs to the index.
func (l *Loader) commit(next manifest) error {
	where := onDisk(l.cfg.Dir)
	current, exists, err := readManifest(where.fsys, where.dir)
	if err != nil {
		return fmt.Errorf("adapters/flat: %s: %w", where.name(manifestFile), err)
	}
	if changed := exists && !reflect.DeepEqual(current, l.manifest); changed || !exists && l.manifest.Next > 0 {
		return fmt.Errorf("adapters/flat: %s: %w: another loader has changed the index", l.cfg.Dir, core.ErrUnavailable)
	}
	if err := next.write(l.cfg.Dir); err != nil {
		return fmt.Errorf("adapters/flat: %w", err)
	}
	l.manifest = next
	return l.sweep()
}

// Count returns the number of passages. Everything upserted is already visible to stores opened from now on.
func (l *Loader) Count(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("adapters/flat: count: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.manifest.Version == 0 {
		return 0, fmt.Errorf("adapters/flat: count: %w: there is no index in %s", core.ErrNotFound, l.cfg.Dir)
	}
	return int64(len(l.ids)), nil
}
