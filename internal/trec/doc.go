// Package trec reads and writes the files of TREC evaluations (runs and relevance judgements) and computes the
// measures of trec_eval over them, so that what georag reports can be checked with trec_eval or ir_measures and
// the other way round.
//
// Ties are broken as trec_eval breaks them: documents are ordered by descending score, and equal scores by
// descending document ID, compared as bytes; the rank column of a run is not read. trec_eval compares scores as
// 32-bit floats, and so does this package.
package trec

import "errors"

// ErrFormat is wrapped by every complaint about a file's content.
var ErrFormat = errors.New("malformed TREC file")
