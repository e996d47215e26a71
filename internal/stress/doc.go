// Package stress makes retrieval harder in controlled, repeatable ways: it adds near-duplicates to what a store
// holds, and it corrupts the sub-queries of questions. Both depend on a seed and on what they touch, never on the
// order of calls, so the same seed gives the same disturbance on every machine.
package stress
