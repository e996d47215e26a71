// Package milvus is the [core.Store] over a Milvus collection (Milvus 2.3 and later).
//
// One Search makes two calls at once: the main query with the stored vectors and the payload, and one search of
// all sub-queries that returns IDs only. The scope (tenant, filter, partitions, consistency) is built once and
// handed to both.
//
// The collection's schema is discovered: primary key (int64 or varchar), vector field, metric and index. Scores
// are turned so that higher is better: COSINE and IP stay as they are, L2 becomes −√distance, because Milvus
// returns the squared distance. FLOAT_VECTOR, FLOAT16_VECTOR and BFLOAT16_VECTOR fields are searched; binary ones
// are not, since selection needs the cosine of the stored vectors.
//
// A connection on which nothing was answered before a deadline is replaced, so that a line that died without a
// word does not outlive the fault.
package milvus
