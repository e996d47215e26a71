// Package milvusproxy stands in front of Milvus's REST interface: clients keep what they have and change one address.
// Searches that ask for it by a header, or that a rule covers, are answered by a selection in Milvus's own shape;
// everything else passes through as it is. It knows POST /v2/vectordb/entities/search and, for Milvus 2.3, POST
// /v1/vector/search. Milvus's gRPC interface it does not speak.
//
// A selection decides which rows are answered and in which order. The rows themselves come from Milvus, by the client's
// own search restricted to the selected primary keys; distance is Milvus's and therefore not monotone.
package milvusproxy
