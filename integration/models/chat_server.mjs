// Serves one GGUF model through llama.cpp as POST /v1/chat/completions, streaming or not, with JSON schemas held by a
// grammar. Usage: node chat_server.mjs MODEL.gguf; prints "ready URL" and ends with its standard input.

import http from "node:http";
import {getLlama, LlamaChatSession} from "node-llama-cpp";

// One thread: llama.cpp's threads wait for each other by spinning, which on a busy machine takes minutes.
const llama = await getLlama({gpu: false, build: "never", progressLogs: false, maxThreads: 1, logLevel: "error"});
const model = await llama.loadModel({modelPath: process.argv[2]});
const context = await model.createContext({contextSize: 2048});

// The context holds one conversation at a time, so requests take turns.
let turn = Promise.resolve();

const server = http.createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    turn = turn.then(() => answer(request, response, body)).catch((failure) => refuse(response, 500, String(failure)));
  });
});

async function answer(request, response, body) {
  if (request.url !== "/v1/chat/completions") return refuse(response, 404, "no such path");
  let asked;
  try {
    asked = JSON.parse(body);
  } catch (failure) {
    return refuse(response, 400, String(failure));
  }
  const leave = new AbortController();
  response.on("close", () => leave.abort());
  const sequence = context.getSequence();
  try {
    const session = new LlamaChatSession({contextSequence: sequence, systemPrompt: text(asked, "system")});
    if (asked.stream) response.writeHead(200, {"Content-Type": "text/event-stream"});
    const schema = asked.response_format?.json_schema?.schema;
    const result = await session.promptWithMeta(text(asked, "user"), {
      grammar: schema && (await llama.createGrammarForJsonSchema(schema)),
      maxTokens: asked.max_tokens ?? 512,
      temperature: asked.temperature ?? 1,
      seed: asked.seed ?? 1,
      signal: leave.signal,
      stopOnAbortSignal: true,
      onTextChunk: (piece) => asked.stream && send(response, {delta: {content: piece}, finish_reason: null}),
    });
    const reason = result.stopReason === "maxTokens" ? "length" : "stop";
    if (!asked.stream) {
      response.writeHead(200, {"Content-Type": "application/json"});
      return response.end(JSON.stringify({choices: [{index: 0, message: {role: "assistant", content: result.responseText}, finish_reason: reason}]}));
    }
    send(response, {delta: {}, finish_reason: reason});
    response.end("data: [DONE]\n\n");
  } finally {
    sequence.dispose();
  }
}

function text(asked, role) {
  return asked.messages.filter((message) => message.role === role).map((message) => message.content).join("\n");
}

function send(response, choice) {
  response.write(`data: ${JSON.stringify({object: "chat.completion.chunk", choices: [{index: 0, ...choice}]})}\n\n`);
}

function refuse(response, status, message) {
  if (response.headersSent) return response.end();
  response.writeHead(status, {"Content-Type": "application/json"});
  response.end(JSON.stringify({error: {message}}));
}

process.stdin.on("end", () => process.exit(0)).resume();
server.listen(0, "127.0.0.1", () => console.log(`ready http://127.0.0.1:${server.address().port}/v1`));
