#!/usr/bin/env python3
"""Runs the embedded Milvus of the PyPI package "milvus" for tests, reachable on one loopback port only.

Usage: milvus_server.py CACHE_DIR [PORT [NAME=VALUE ...]]

CACHE_DIR keeps the virtual environment and the unpacked server between runs; PORT 0 (the default) is any free one.
NAME=VALUE are settings of milvus.yaml, such as common.security.authorizationEnabled=true.
Requests are lines on standard input, each answered by one line on standard output:

    start   starts the server on this run's data folder        -> ready 127.0.0.1:PORT
    kill    ends it with SIGKILL, keeping its data             -> killed
    stop    ends the run and deletes its data, as does the end of standard input

An answer that begins with "error" says what failed. Whoever starts this script therefore need not clean up: when
it dies its end of the pipe closes, and the server goes with it.
"""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import venv
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "requirements-milvus.txt"
ENV_FOLDER = "venv-milvus"


def main():
    cache = Path(sys.argv[1]).resolve()
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    enter_environment(cache)
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    if not isolate_network():
        print("milvus_server.py: no network namespace could be made, so Milvus's own ports are open on every "
              "interface of this machine while it runs", file=sys.stderr, flush=True)
    base = tempfile.mkdtemp(prefix="georag-milvus-")
    server = Server(base, cache, dict(setting.split("=", 1) for setting in sys.argv[3:]))
    threading.Thread(target=relay_all, args=(listener, server), daemon=True).start()
    try:
        for line in sys.stdin:
            request = line.strip()
            if request == "stop":
                break
            answer(request, server, listener)
    finally:
        server.kill()
        shutil.rmtree(base, ignore_errors=True)


def answer(request, server, listener):
    try:
        if request == "start":
            server.start()
            print("ready %s:%d" % listener.getsockname(), flush=True)
        elif request == "kill":
            server.kill()
            print("killed", flush=True)
        else:
            print("error unknown request", request, flush=True)
    except Exception as failure:  # the reader of our output must hear of every failure
        print("error", str(failure).replace("\n", " "), flush=True)


def enter_environment(cache):
    """Goes on in a virtual environment that holds the pinned requirements, made at first use."""
    folder = cache / ENV_FOLDER
    if Path(sys.prefix) == folder:
        return
    cache.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    with open(cache / (ENV_FOLDER + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test packages run in parallel
        marker = folder / "installed-requirements.txt"
        if not (marker.exists() and marker.read_text() == REQUIREMENTS.read_text()):
            venv.create(folder, clear=True, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", REQUIREMENTS],
                           check=True, stdout=sys.stderr)
            shutil.copy(REQUIREMENTS, marker)
    os.execv(python, [str(python), *sys.argv])


def isolate_network():
    """Moves this process into a network of its own, whose only interface is loopback.

    Milvus 2.3 listens on all interfaces for each of its ten components, whatever address it is configured with.
    In a namespace of its own nothing outside reaches them, and several servers never compete for a port. The
    listener made before stays in the old network.
    """
    new_net, new_user = 0x40000000, 0x10000000
    if not sys.platform.startswith("linux"):
        return False
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(new_net) != 0:
        if libc.unshare(new_user | new_net) != 0:
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text("%d %d 1" % (uid, uid))
        Path("/proc/self/gid_map").write_text("%d %d 1" % (gid, gid))
    get_flags, set_flags, up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(control, get_flags, request))[1]
        fcntl.ioctl(control, set_flags, struct.pack("16sh22x", b"lo", flags | up))
    return True


class Server:
    """One Milvus over one data folder; start after kill finds the data again."""

    COMPONENTS = ("rootCoord", "proxy", "queryCoord", "queryNode", "indexNode", "dataCoord", "dataNode")
    # Shorter rounds than production's, so that a test's load, flush and strongly consistent search take less time.
    SETTINGS = {
        "log.level": "warn",
        "proxy.timeTickInterval": 20,
        "queryCoord.checkInterval": 100,
        "queryCoord.distPullInterval": 100,
        "queryCoord.checkHandoffInterval": 500,
    }

    def __init__(self, base, cache, settings):
        from milvus import MilvusServerConfig, _initialize_data_files

        unpacked = cache / ENV_FOLDER / "server"
        with open(cache / (ENV_FOLDER + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _initialize_data_files(unpacked)
        self.base = Path(base)
        self.binaries = unpacked / "bin"
        self.config = MilvusServerConfig(data_dir=base)
        for name in self.COMPONENTS:
            self.config.set(name + ".ip", "127.0.0.1")
        for name, value in {**self.SETTINGS, **settings}.items():
            self.config.set(name, value)
        self.config.set("etcd_log_level", "error")
        self.process = None
        self.port = None

    def start(self):
        self.config.resolve()
        self.port = self.config.get("proxy_port")
        health_port, probe = self.config.resolve_port(9091)
        probe.close()
        environment = dict(os.environ, DEPLOY_MODE="STANDALONE", METRICS_PORT=str(health_port),
                           MILVUS_RUN_DIR=str(self.base / "run"))
        for variable in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
            environment[variable] = "%s:%s" % (self.binaries, os.environ.get(variable, ""))
        with open(self.log(), "w") as log:
            self.process = subprocess.Popen([self.binaries / "milvus", "run", "standalone"], cwd=self.base,
                                            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=die_with_parent())
        self.wait_until_healthy("http://127.0.0.1:%d/healthz" % health_port)

    def log(self):
        return self.base / "logs" / "milvus-output.log"

    def wait_until_healthy(self, url):
        for _ in range(900):
            if self.process.poll() is not None:
                raise RuntimeError("Milvus ended while starting: " + self.last_words())
            try:
                with urllib.request.urlopen(url, timeout=5) as response:
                    if b"OK" in response.read():
                        return
            except OSError:
                pass  # it does not listen yet, or answers 503
            time.sleep(0.1)
        raise RuntimeError("Milvus was not healthy within 90 s: " + self.last_words())

    def last_words(self):
        return "\n".join(self.log().read_text(errors="replace").splitlines()[-10:])

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def die_with_parent():
    """Returns what a child runs so that the kernel ends it when this process is killed."""
    if not sys.platform.startswith("linux"):
        return None
    libc, set_death_signal = ctypes.CDLL(None), 1
    return lambda: libc.prctl(set_death_signal, signal.SIGKILL)


def relay_all(listener, server):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=relay, args=(client, server), daemon=True).start()


def relay(client, server):
    """Joins a connection from outside with one to the server; where that fails the client sees a reset."""
    try:
        inner = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    except OSError:
        reset(client)
        return
    inner.settimeout(None)
    for end in (client, inner):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=copy, args=(inner, client), daemon=True).start()
    copy(client, inner)


def copy(source, sink):
    try:
        while data := source.recv(1 << 18):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        reset(source)
        reset(sink)


def reset(connection):
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that still reads from it
    except OSError:
        pass  # the peer or the other thread was faster
    connection.close()


if __name__ == "__main__":
    main()
