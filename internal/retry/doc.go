// Package retry is the one place where calls to the outside get their deadline and their second chance.
//
// A call has a deadline of its own, which covers every attempt and every pause between them. Reads that failed
// for a reason worth another try are repeated at most twice, after a pause drawn uniformly from zero to a limit
// that doubles from 20 ms to 200 ms ("full jitter"), or after the pause the server asked for. A token bucket keeps
// the retries of all calls together near a tenth of the calls, so that an overloaded server is not pushed further.
//
// It is written here rather than taken from failsafe-go, because three of its rules are not that library's: its
// budget bounds concurrent retries rather than keeping a token bucket, its jitter is a band round a fixed pause,
// and it sleeps past a deadline that a server's Retry-After cannot meet instead of answering at once.
package retry
