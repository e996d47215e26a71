package cache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/singleflight"

	"github.com/georag/georag/core"
)

// Defaults of [Config].
const (
	DefaultEntries = 20000
	DefaultTTL     = time.Hour
)

// Config bounds a [Cache]. Its zero value is a cache in memory.
type Config struct {
	// Entries bounds the number of vectors and answers in memory; 0 is 20,000, some 80 MB of vectors of 1,024
	// components.
	Entries int `koanf:"entries"`
	// TTL is how long an entry in memory is used; 0 is one hour.
	TTL time.Duration `koanf:"ttl"`
	// File keeps entries on disk as well, without bound of age or number; "" does not. One process at a time may
	// have it open.
	File string `koanf:"file"`
}

// Validate reports a setting out of its range; the error wraps [core.ErrInvalid].
func (c Config) Validate() error {
	switch {
	case c.Entries < 0:
		return fmt.Errorf("adapters/cache: entries %d: %w: must not be negative", c.Entries, core.ErrInvalid)
	case c.TTL < 0:
		return fmt.Errorf("adapters/cache: ttl %v: %w: must not be negative", c.TTL, core.ErrInvalid)
	}
	return nil
}

// Cache is shared by the models that it wraps. It is safe for concurrent use.
type Cache struct {
	memory  *lru.Cache[key, entry]
	ttl     time.Duration
	disk    *bbolt.DB // nil: memory only
	flights singleflight.Group
	closing context.Context // ends at Close
	close   context.CancelFunc
	counts  struct{ memory, disk, calls, failedWrites atomic.Int64 }
}

type key [sha256.Size]byte

// entry is an encoded value, so that nobody can change what another caller gets.
type entry struct {
	value []byte
	until time.Time
}

// Stats counts since the cache was opened.
type Stats struct {
	Memory, Disk int64 // entries found there
	Calls        int64 // calls made to the models
	FailedWrites int64 // entries that could not be written to the file
}

var bucket = []byte("georag cache 1")

// Open opens or creates the cache. A file that another process has open is [core.ErrUnavailable] after a second.
func Open(c Config) (*Cache, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	memory, err := lru.New[key, entry](cmp.Or(c.Entries, DefaultEntries))
	if err != nil {
		return nil, fmt.Errorf("adapters/cache: %w", err)
	}
	cache := &Cache{memory: memory, ttl: cmp.Or(c.TTL, DefaultTTL)}
	if c.File != "" {
		if cache.disk, err = openFile(c.File); err != nil {
			return nil, err
		}
	}
	cache.closing, cache.close = context.WithCancel(context.Background())
	return cache, nil
}

func openFile(path string) (*bbolt.DB, error) {
	disk, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second})
	if errors.Is(err, bbolt.ErrTimeout) {
		return nil, fmt.Errorf("adapters/cache: %s: %w: another process has it open", path, core.ErrUnavailable)
	}
	if err != nil {
		return nil, fmt.Errorf("adapters/cache: %s: %w: %w", path, core.ErrInvalid, err)
	}
	err = disk.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("adapters/cache: %s: %w", path, err), disk.Close())
	}
	return disk, nil
}

// Close ends the calls under way and closes the file. The models that were wrapped stay open.
func (c *Cache) Close() error {
	c.close()
	if c.disk == nil {
		return nil
	}
	return c.disk.Close()
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	return Stats{
		Memory: c.counts.memory.Load(), Disk: c.counts.disk.Load(),
		Calls: c.counts.calls.Load(), FailedWrites: c.counts.failedWrites.Load(),
	}
}

// keyOf hashes parts with their lengths, so that no two lists of parts have the same bytes.
func keyOf(parts ...string) key {
	hash := sha256.New()
	for _, part := range parts {
		_ = binary.Write(hash, binary.LittleEndian, uint64(len(part)))
		_, _ = io.WriteString(hash, part)
	}
	return key(hash.Sum(nil))
}

// get returns the value at k, from memory or else from the file.
func (c *Cache) get(k key) ([]byte, bool) {
	if e, ok := c.memory.Get(k); ok {
		if time.Now().Before(e.until) {
			c.counts.memory.Add(1)
			return e.value, true
		}
		c.memory.Remove(k)
	}
	if c.disk == nil {
		return nil, false
	}
	var value []byte
	err := c.disk.View(func(tx *bbolt.Tx) error {
		value = append(value, tx.Bucket(bucket).Get(k[:])...)
		return nil
	})
	if err != nil || len(value) == 0 {
		return nil, false
	}
	c.counts.disk.Add(1)
	c.remember(k, value)
	return value, true
}

func (c *Cache) remember(k key, value []byte) {
	c.memory.Add(k, entry{value, time.Now().Add(c.ttl)})
}

// put keeps values. What cannot be written to the file is counted and otherwise no one's trouble.
func (c *Cache) put(values map[key][]byte) {
	for k, value := range values {
		c.remember(k, value)
	}
	if c.disk == nil {
		return
	}
	err := c.disk.Update(func(tx *bbolt.Tx) error {
		for k, value := range values {
			if err := tx.Bucket(bucket).Put(k[:], value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.counts.failedWrites.Add(int64(len(values)))
	}
}

// fingerprinted is implemented by models whose answers depend on more than their name.
type fingerprinted interface{ Fingerprint() string }

func fingerprint(model interface{ Model() string }) string {
	if f, ok := model.(fingerprinted); ok {
		return f.Fingerprint()
	}
	return model.Model()
}
