"""Times the Ricci filter beside two Python implementations, on the same graphs, one after the other on one core.

    make bench-ricci

installs bench/requirements.txt into a virtual environment and runs this. It prints the versions, the seed, how ours
grows with k from 10 to 100 (on the graphs of BenchmarkRicci), and milliseconds and ratios for k = 20 and k = 50
candidates, all at M = 20 flow steps. GraphRicciCurvature runs its own flow
with exact transport; the other one is the filter of core/filter/testdata/reference.py over POT's emd2. All three
start from the similarities in core/filter/testdata/reference.json, and the Python two must agree on the final lengths
(ours is held against them in the tests of core/filter).

All are timed in seconds of CPU, child processes included, the least of three runs: on a busy machine time on the wall
says little.
"""
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "core/filter/testdata"))

import networkx as nx  # noqa: E402: the number of threads is read at import
import numpy as np  # noqa: E402
from reference import build_graph, filter_lengths, ricci  # noqa: E402

STEPS = 20
GROWTH = (10, 20, 30, 50, 70, 100)
REFERENCE = json.loads((ROOT / "core/filter/testdata/reference.json").read_text())


def published_cases():
    """The similarity matrices of the reference that carry the published options."""
    for case in REFERENCE["filter"]:
        if case["k"] >= 20 and case["alpha"] == 0.5:
            yield case["k"], np.array(case["similarity"]).reshape(case["k"] + 1, -1)


def graph_ricci_curvature(similarity):
    graph = nx.from_numpy_array(build_graph(similarity, 50).astype(float))
    solver = ricci(graph, 0.5, 2)
    # A negative delta keeps it from stopping before the last step.
    solver.compute_ricci_flow(iterations=STEPS, step=1, delta=-1.0)
    return np.array([solver.G[0][i]["weight"] for i in range(1, len(similarity))])


def pot(similarity):
    return filter_lengths(similarity, steps=STEPS)


def cpu_seconds():
    """CPU used so far by this process and by its children that have ended."""
    t = os.times()
    return t.user + t.system + t.children_user + t.children_system


def timed(implementation, *arguments, runs=3):
    """The least seconds of a few runs, and the last result."""
    seconds = []
    for _ in range(runs):
        start = cpu_seconds()
        result = implementation(*arguments)
        seconds.append(cpu_seconds() - start)
    return min(seconds), result


def ours(benchmark, k, binary):
    """Seconds of one run of a Go benchmark: many iterations less the start of the program."""
    def run(iterations):
        subprocess.run([binary, "-test.run", "^$", "-test.bench", f"^{benchmark}$/^k={k}$",
                        "-test.cpu", "1", "-test.benchtime", f"{iterations}x"],
                       cwd=ROOT / "core/filter", check=True, capture_output=True)
    more = max(1, 10_000 // k**2)
    return (timed(run, more + 1)[0] - timed(run, 1)[0]) / more


def main():
    print(", ".join(f"{name} {version(name)}" for name in ("POT", "GraphRicciCurvature", "numpy", "networkx")),
          f"Python {sys.version.split()[0]}", f"seed {REFERENCE['seed']}", sep=", ")
    with tempfile.TemporaryDirectory() as directory:
        binary = directory + "/filter.test"
        subprocess.run(["go", "test", "-c", "-o", binary, "./core/filter"], cwd=ROOT, check=True)
        print(f"{'k':>3} {'ours':>10}")
        for k in GROWTH:
            print(f"{k:>3} {ours('BenchmarkRicci', k, binary) * 1e3:>7.1f} ms", flush=True)
        print(f"{'k':>3} {'ours':>10} {'GraphRicciCurvature':>28} {'POT':>28}")
        for k, similarity in published_cases():
            own = ours("BenchmarkRicciBesideReference", k, binary)
            results = [timed(implementation, similarity) for implementation in (graph_ricci_curvature, pot)]
            np.testing.assert_allclose(results[0][1], results[1][1], rtol=0, atol=1e-9)
            print(f"{k:>3} {own * 1e3:>7.1f} ms" +
                  "".join(f"{t * 1e3:>15.0f} ms, {t / own:>6.0f} ×" for t, _ in results), flush=True)


if __name__ == "__main__":
    main()
