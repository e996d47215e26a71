package flat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/georag/georag/core"
)

var (
	_ core.Store     = (*Store)(nil)
	_ core.Describer = (*Store)(nil)
	_ core.Scanner   = (*Store)(nil)
)

// Store is an open index: what the folder held when it was opened. It is safe for concurrent use.
type Store struct {
	cfg    Config
	where  folder
	metric core.Metric
	dim    int
	parts  []*part

	ids     []core.ID // of each row, superseded rows included
	rowOf   map[core.ID]int32
	live    []int32 // rows that no later row supersedes, ascending; nil where all are live
	fields  fieldNames
	tenants map[string][]int32 // rows of each tenant, ascending

	scopes *lru.Cache[string, []int32] // rows of the filters seen last
	model  string                      // that made the vectors, where it is known
	norms  func() []float64            // of each row, computed once
	words  lexicon

	open   sync.RWMutex // held for reading while the files are in use
	closed bool
}

// rememberedFilters is how many filters' rows are kept: a scope is usually asked for again.
const rememberedFilters = 32

// Open opens the index in folder cfg.Dir. A folder that does not exist is [core.ErrNotFound]; files that do not
// fit together or are malformed are errors that name file and line.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("adapters/flat: %w: dir is empty", core.ErrInvalid)
	}
	return openFolder(onDisk(cfg.Dir), cfg)
}

// OpenFS opens the index in folder dir of fsys, such as one embedded in the program, by reading it into memory.
// cfg.Dir is not used.
func OpenFS(fsys fs.FS, dir string, cfg Config) (*Store, error) {
	return openFolder(folder{fsys: fsys, dir: dir}, cfg)
}

// openFolder reads the manifest and what it names. A writer may replace both in between; a part that has gone
// missing since is such a moment, and the new manifest tells the new names.
func openFolder(where folder, cfg Config) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	const attempts = 5
	for attempt := 1; ; attempt++ {
		m, _, err := readManifest(where.fsys, where.dir)
		if err != nil {
			return nil, fmt.Errorf("adapters/flat: %s: %w", where.name(manifestFile), err)
		}
		s, err := openParts(where, cfg, m)
		if err == nil {
			return s, nil
		}
		missing := errors.Is(err, fs.ErrNotExist)
		if m.Version == 0 && missing {
			return nil, fmt.Errorf("adapters/flat: %w: no index in %s: %w", core.ErrNotFound, where.name(""), err)
		}
		if !missing || attempt == attempts {
			return nil, fmt.Errorf("adapters/flat: %w", err)
		}
	}
}

func openParts(where folder, cfg Config, m manifest) (*Store, error) {
	s := &Store{cfg: cfg, where: where, metric: cmp.Or(cfg.Metric, m.Metric, metrics[0]), dim: m.Dimension, model: m.Model,
		rowOf: make(map[core.ID]int32), tenants: make(map[string][]int32)}
	s.norms = sync.OnceValue(s.computeNorms)
	if err := s.addParts(m); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) addParts(m manifest) (err error) {
	unique := m.Version == 0 // a hand-made folder with one ID twice is a mistake; in an index the later one counts
	for _, files := range m.Parts {
		if err := s.addPart(files, unique); err != nil {
			return err
		}
	}
	s.hideSuperseded()
	if s.scopes, err = lru.New[string, []int32](rememberedFilters); err != nil {
		return err
	}
	return s.checkConfiguredFields()
}

// addPart opens a part and adds its rows to the index.
func (s *Store) addPart(files partFiles, unique bool) error {
	first := len(s.ids)
	p, err := s.where.openPart(files, func(row int, id core.ID, fields []field) error {
		if earlier, twice := s.rowOf[id]; twice && unique {
			return fmt.Errorf("id %q is already on line %d", id, earlier+1)
		}
		s.rowOf[id] = int32(first + row)
		s.ids = append(s.ids, id)
		s.note(int32(first+row), fields)
		return nil
	})
	if err != nil {
		return err
	}
	p.first = first
	s.parts = append(s.parts, p)
	if s.dim == 0 {
		s.dim = p.vectors.Dim()
	}
	if p.vectors.Dim() != s.dim {
		return fmt.Errorf("%s: %w: its rows have length %d, those of the index %d", s.where.name(files.Vectors), core.ErrDimension, p.vectors.Dim(), s.dim)
	}
	return nil
}

// hideSuperseded leaves out the rows whose ID occurs again later.
func (s *Store) hideSuperseded() {
	if len(s.rowOf) == len(s.ids) {
		return
	}
	s.live = slices.Sorted(maps.Values(s.rowOf))
	for tenant, rows := range s.tenants {
		s.tenants[tenant] = slices.DeleteFunc(rows, func(row int32) bool { return s.rowOf[s.ids[row]] != row })
	}
}

// part returns the part that holds a row.
func (s *Store) part(row int32) *part {
	if len(s.parts) == 1 {
		return s.parts[0]
	}
	after := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].first > int(row) })
	return s.parts[after-1]
}

// view returns the stored vector of a row, converted into scratch where it is not stored as float32.
func (s *Store) view(scratch []float32, row int32) []float32 {
	p := s.part(row)
	return p.vectors.View(scratch, int(row)-p.first)
}

// use keeps the files open until the returned function is called.
func (s *Store) use(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("adapters/flat: %w", err)
	}
	s.open.RLock()
	if s.closed {
		s.open.RUnlock()
		return nil, fmt.Errorf("adapters/flat: %s: %w: the store is closed", s.where.name(""), core.ErrUnavailable)
	}
	return s.open.RUnlock, nil
}

// Close waits for the calls under way and releases the files. Closing twice is no error.
func (s *Store) Close() error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, p := range s.parts {
		errs = append(errs, p.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("adapters/flat: close %s: %w", s.where.name(""), err)
	}
	return nil
}
