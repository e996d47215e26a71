// Package qdrant is the [core.Store] over a Qdrant collection (Qdrant 1.10 and later; the server's own MMR needs
// 1.15), spoken to over gRPC.
//
// One Search is one QueryBatch: the main query with the stored vectors and the payload, and each sub-query with
// IDs only, or with vectors too where those outside the main result are asked for. The scope (tenant, filter, shard keys, consistency) is built once and put into every query of the
// batch. Qdrant fails a batch as a whole, so every vector is checked against the collection before it is sent;
// where the server refuses the batch all the same (a strict mode that bounds batches, an answer above
// max_message_bytes), the main query is asked once more alone, and each sub-query carries the refusal as its Err.
// A server that cannot be reached is an error of the Search.
//
// The collection's schema is discovered: the vector, its metric, dimension and storage. Scores are turned so that
// higher is better: Cosine and Dot stay as they are, Euclid and Manhattan become the negative distance. Storage as
// float32, float16 or uint8 and any quantisation are the server's affair: vectors arrive as float32. Collections of
// multi-vectors (ColBERT) are refused: selection needs one vector for each passage.
//
// Point IDs are uint64 or UUID. Passages known by another text or a negative number carry it in the payload field
// id_field; loading then derives the point's ID from it (UUIDv5).
//
// A connection on which nothing was answered before a deadline is replaced, beginning with the next address, so
// that a line that died without a word does not outlive the fault.
package qdrant
