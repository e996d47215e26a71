// Package mcp offers a stage to language models over the Model Context Protocol: the tools search_passages and
// explain_selection. It speaks the protocol's stdio transport, one JSON-RPC message a line.
//
// What a model asks wrongly, and what fails behind the stage, is a tool error (isError with words the model can act on),
// never a protocol error. Each call has a deadline.
package mcp
