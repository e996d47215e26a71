"""Times the Ricci filter beside two Python implementations, on the same graphs, one after the other on one core.

    python -m venv venv && venv/bin/pip install POT==0.9.7.post1 GraphRicciCurvature==0.6.1
    venv/bin/python bench/ricci_reference.py

Prints milliseconds and ratios for k = 20 and k = 50 candidates and M = 20 flow steps. GraphRicciCurvature runs its
own flow with exact transport; the other one is the filter of core/filter/testdata/reference.py over POT's emd2.
All three start from the similarities in core/filter/testdata/reference.json and must agree on the final lengths.
"""
import json
import os
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "core/filter/testdata"))

import networkx as nx  # noqa: E402: the number of threads is read at import
import numpy as np  # noqa: E402
from reference import build_graph, filter_lengths, ricci  # noqa: E402

STEPS = 20


def published_cases():
    """The similarity matrices of the reference that carry the published options."""
    for case in json.loads((ROOT / "core/filter/testdata/reference.json").read_text())["filter"]:
        if case["k"] >= 20 and case["alpha"] == 0.5:
            yield case["k"], np.array(case["similarity"]).reshape(case["k"] + 1, -1)


def time_graph_ricci_curvature(similarity):
    graph = nx.from_numpy_array(build_graph(similarity, 50).astype(float))
    solver = ricci(graph, 0.5, 2)
    start = time.perf_counter()
    # A negative delta keeps it from stopping before the last step.
    solver.compute_ricci_flow(iterations=STEPS, step=1, delta=-1.0)
    seconds = time.perf_counter() - start
    return seconds, np.array([solver.G[0][i]["weight"] for i in range(1, len(similarity))])


def time_pot(similarity):
    start = time.perf_counter()
    lengths = filter_lengths(similarity, steps=STEPS)
    return time.perf_counter() - start, lengths


def time_ours():
    """Seconds by k, from the Go benchmark."""
    output = subprocess.run(
        ["go", "test", "-run", "^$", "-bench", "^BenchmarkRicciBesideReference$", "-cpu", "1", "./core/filter"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {int(k): float(ns) * 1e-9
            for k, ns in re.findall(r"^BenchmarkRicciBesideReference/k=(\d+)\s+\d+\s+([\d.]+) ns/op", output, re.M)}


def main():
    print(", ".join(f"{name} {version(name)}" for name in ("POT", "GraphRicciCurvature", "numpy")))
    ours = time_ours()
    print(f"{'k':>3} {'ours':>10} {'GraphRicciCurvature':>28} {'POT':>28}")
    for k, similarity in published_cases():
        grc, grc_lengths = time_graph_ricci_curvature(similarity)
        pot, pot_lengths = time_pot(similarity)
        np.testing.assert_allclose(grc_lengths, pot_lengths, rtol=0, atol=1e-9)
        print(f"{k:>3} {ours[k] * 1e3:>7.1f} ms" +
              "".join(f"{t * 1e3:>15.0f} ms, {t / ours[k]:>6.0f} ×" for t in (grc, pot)))


if __name__ == "__main__":
    main()
