// Package qdrantproxy stands in front of a Qdrant: clients keep their client library and change one address. Queries
// that ask for it by a header, or that a rule covers, are answered by a selection in Qdrant's own shape; everything
// else passes through as it is. It speaks both of Qdrant's protocols, REST and gRPC.
//
// A selection decides which points are answered and in which order. The points themselves (scores, versions, payloads,
// vectors) come from Qdrant, by the client's own query restricted to the selected IDs, so they look exactly as without
// the proxy; the score is the store's and therefore not monotone.
package qdrantproxy
