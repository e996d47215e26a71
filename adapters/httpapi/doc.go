// Package httpapi is the service in front of a vector store: the native API (/v1/select, /v1/diagnose), the rerank
// protocols of Cohere, Jina, vLLM and TEI (/rerank, /v1/rerank, /v2/rerank), and the operations around them.
//
// Every request takes one way, whatever its endpoint:
//
//	request id → key and tenant → body, bounded and complete → a turn among at most Running → handler → answer
//
// A request that gets no turn in time is answered 429 with Retry-After. Its deadline, from the header
// Request-Timeout or the parameter timeout, counts from its arrival and decides how far down the ladder
// georag → facility → mmr → cosine a selection goes; the answer says which rung gave it. Answers are held until the
// turn is given back, so that a slow reader keeps nobody waiting.
//
// The service is stateless. Other protocols join with [Deps.Routes] and take the same way; [Server.Admit] and
// [Server.Authenticate] serve those that do not speak HTTP.
package httpapi
