// Package milvus is the [core.Store] over a Milvus collection (Milvus 2.3 and later).
//
// One Search makes two calls at once: the main query with the stored vectors and the payload, and one search of
// all sub-queries that returns IDs only. The scope (tenant, filter, partitions, consistency) is built once and
// handed to both.
//
// The collection's schema is discovered: primary key (int64 or varchar), vector field, metric and index. Scores
// are turned so that higher is better: COSINE and IP stay as they are, L2 becomes −√distance, because Milvus
// returns the squared distance. FLOAT_VECTOR fields are searched, and FLOAT16_VECTOR and BFLOAT16_VECTOR ones from Milvus
// 2.4 on; binary ones are not, since selection needs the cosine of the stored vectors. Hybrid retrieval needs 2.4 too.
//
// Of int64 keys Milvus cannot return the highest, 2^63−1.
//
// A connection on which nothing was answered before a deadline is replaced, so that a line that died without a
// word does not outlive the fault.
package milvus
