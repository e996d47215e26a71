package retry

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// After reads a Retry-After header (RFC 9110 §10.2.3): seconds, or a date that is compared with now. It returns 0
// where the header is absent, malformed or already past.
func After(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
