// Package cache keeps what models wrote and embedded, so that the same question costs one call: in memory within bounds
// of number and age, and, for evaluations that must be repeatable, in a file.
//
// An entry's key is a hash of the model's fingerprint (server, model, settings, version of the prompt), the kind of
// call, and the text. Failures and degraded answers are never kept. Callers that ask for the same thing at the same
// time share one call, which outlives the caller that started it: one that gives up does not take the others along.
package cache
