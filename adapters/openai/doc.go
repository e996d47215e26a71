// Package openai reaches every model server that speaks OpenAI's HTTP API (OpenAI itself, vLLM, llama.cpp, Ollama,
// LiteLLM, TEI for embeddings) through the official client library: an [Embedder], a [SubQueryWriter], a
// [PassageWriter] for HyDE and an [Answerer] for evaluation.
//
// The library's own retries and its reading of OPENAI_* variables are off: calls have the deadline and the retries of
// internal/retry, and a key goes only to the server that it was configured for.
//
// A model's answer is never trusted to have the shape that was asked for. [ParseSubQueries] takes what it can use
// from anything, and a question is always passed to a model as data.
package openai
