package retry

import "sync"

// bucketSize lets a client that makes few calls retry at all, and bounds the burst after a long calm.
const bucketSize = 10

// bucket is the retry budget: every call puts in a share of a token, every retry takes out a whole one.
type bucket struct {
	mu     sync.Mutex
	tokens float64
	share  float64
}

func newBucket(share float64) *bucket {
	full := &bucket{share: share}
	if share > 0 {
		full.tokens = bucketSize
	}
	return full
}

func (b *bucket) deposit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+b.share, bucketSize)
}

func (b *bucket) withdraw() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
