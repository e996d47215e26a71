package core

// Query is one question to a [Stage]. Either Text or Vector is needed: a Text without Vector needs the stage's
// Embedder, and without SubQueries its SubQueryWriter.
type Query struct {
	Text       string
	Vector     []float32 // any norm
	SubQueries []SubQuery
	Scope      Scope
	Sparse     *SparseVector // for the hybrid pool of stores that take one
	// Given are the candidates of pool "given", chosen by someone else: IDs and scores, best first. Their
	// vectors and payloads are fetched from the store.
	Given []Candidate
}

// SubQuery is one part of a question.
type SubQuery struct {
	Text   string
	Vector []float32 // any norm; nil where the stage's Embedder is to make it
}
