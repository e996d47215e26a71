"""Times our selectors beside those of other libraries: the same real vectors, the same k, one run, one core.

    make bench-peers

installs bench/peers-requirements.txt into a virtual environment and runs this. Every figure is the time from unit
vectors to k chosen rows, similarities included, in seconds of CPU (on a busy machine time on the wall says little):
per question the least of a few runs, then the median and the 5th and 95th percentile over questions. The plots show one
question.

The problems are the K nearest passages of real questions in wiki-multihop, or of the demonstration where that is
absent. Larger dimensions hold the same vectors under a random rotation, which keeps every cosine. The facility
location of submodlib knows no demand, so it covers all candidates alike, which is as much work. POT runs
the publication's greedy selection with 100 kernel-domain iterations for each candidate of each step, on one question.

It prints tables and writes two plots: docs/time-by-k.svg and docs/time-by-d.svg.
"""
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402: the number of threads is read at import
import ot  # noqa: E402
import pyversity  # noqa: E402
from langchain_core.vectorstores.utils import maximal_marginal_relevance  # noqa: E402
from submodlib import FacilityLocationFunction  # noqa: E402

from plot import log_log  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
CHOSEN = 5
RUNS = 2
OURS = ("georag", "facility", "mmr", "dpp")
PACKAGES = ("pyversity", "submodlib-py", "POT", "langchain-core", "numpy")


def corpus():
    """The name and the passages, questions and first ten sub-queries of the largest corpus there is."""
    shared = Path(os.environ.get("GEORAG_SHARED", ROOT.parent / "shared")) / "data/wiki-multihop"
    name, folder = ("wiki-multihop", shared) if shared.exists() else ("demo", ROOT / "demo/data")
    passages, questions, subqueries = (np.load(folder / f"{part}.npy") for part in ("passages", "questions", "subqueries"))
    return name, passages, questions, subqueries[:, :10]


def problems(data, count, candidates, dimension=None):
    """vectors (count × candidates × d), questions and demand, evenly spread over the questions."""
    _, passages, questions, subqueries = data
    vectors, asked, demand = [], [], []
    for i in np.linspace(0, len(questions) - 1, count).astype(int):
        nearest = np.sort(np.argsort(-(passages @ questions[i]), kind="stable")[:candidates])
        likelihood = np.exp(passages[nearest] @ subqueries[i].T / 0.05)
        vectors.append(passages[nearest])
        asked.append(questions[i])
        demand.append((likelihood / likelihood.sum(0)).mean(1))
    vectors, asked = np.array(vectors), np.array(asked)
    if dimension and dimension > vectors.shape[-1]:
        rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(dimension, vectors.shape[-1])))[0].T
        vectors, asked = vectors @ rotation, asked @ rotation
    return vectors.astype(np.float32), asked.astype(np.float32), np.array(demand, dtype=np.float32)


def similarities(vectors):
    return np.clip(vectors @ vectors.T, 0, 1)


def run_pyversity(strategy):
    def run(vectors, question, _):
        return pyversity.diversify(vectors, vectors @ question, CHOSEN, strategy=strategy, diversity=0.5).indices
    return run


def run_langchain(vectors, question, _):
    return maximal_marginal_relevance(question, vectors, lambda_mult=0.5, k=CHOSEN)


def run_submodlib(vectors, *_):
    function = FacilityLocationFunction(len(vectors), mode="dense", separate_rep=False, sijs=similarities(vectors))
    return [row for row, _ in function.maximize(CHOSEN, optimizer="LazyGreedy", stopIfZeroGain=False, show_progress=False)]


def run_pot(vectors, question, demand):
    """Algorithm 1 as published: the gate times the fall of the transport cost, for every candidate in every step."""
    cost, share = 1 - vectors.astype(np.float64) @ vectors.T, demand.astype(np.float64) / demand.astype(np.float64).sum()
    chosen, current = [int(np.argmax(vectors @ question))], None
    current = share @ cost[:, chosen[0]]
    while len(chosen) < CHOSEN:
        gains = np.full(len(vectors), -np.inf)
        for c in set(range(len(vectors))) - set(chosen):
            columns = cost[:, chosen + [c]]
            uniform = np.full(columns.shape[1], 1 / columns.shape[1])
            plan = ot.sinkhorn(share, uniform, columns, 0.01, numItermax=100, stopThr=0, warn=False)
            gains[c] = cost[c, chosen].min() * (current - (plan * columns).sum())
        chosen.append(int(np.argmax(gains)))
        columns = cost[:, chosen]
        plan = ot.sinkhorn(share, np.full(len(chosen), 1 / len(chosen)), columns, 0.01, numItermax=100, stopThr=0, warn=False)
        current = (plan * columns).sum()
    return chosen


PEERS = {
    "pyversity MMR": ("mmr", run_pyversity("mmr")),
    "LangChain MMR": ("mmr", run_langchain),
    "pyversity DPP": ("dpp", run_pyversity("dpp")),
    "pyversity COVER": ("facility", run_pyversity("cover")),
    "submodlib facility": ("facility", run_submodlib),
}


def timed(implementation, problem, runs=RUNS):
    """The least seconds of a few runs, and the rows chosen."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        rows = implementation(*problem)
        seconds.append(time.process_time() - start)
    return min(seconds), [int(row) for row in rows]


def ours(binary, given, selectors=OURS):
    """Of each selector the seconds from vectors to rows, the seconds with similarities known, and the rows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, array in zip(("vectors", "queries", "demand"), given):
            np.save(f"{folder}/{name}.npy", array)
        output = subprocess.run([binary, "-k", str(CHOSEN), "-runs", str(RUNS), "-selectors", ",".join(selectors), folder],
                                check=True, capture_output=True, text=True).stdout
    results = {}
    for line in output.splitlines():
        result = json.loads(line)
        results[result["selector"]] = (np.array(result["total"]) / 1e9, np.array(result["select"]) / 1e9, result["rows"])
    return results


def compare(given, peers=PEERS):
    """Seconds per question and rows of each peer."""
    results = {}
    for name, (_, implementation) in peers.items():
        implementation(given[0][0], given[1][0], given[2][0])  # warms up
        pairs = [timed(implementation, problem) for problem in zip(*given)]
        results[name] = (np.array([seconds for seconds, _ in pairs]), [rows for _, rows in pairs])
    return results


def milliseconds(seconds):
    low, middle, high = np.percentile(seconds, [5, 50, 95]) * 1e3
    return f"{middle:.3g} ({low:.3g}–{high:.3g})"


def table(binary, data, count, candidates):
    given = problems(data, count, candidates)
    own, peers = ours(binary, given, (*OURS, "georag-published")), compare(given)
    print(f"\nK={candidates}, d={given[0].shape[-1]}, k={CHOSEN}, {count} questions; ms, median (5th–95th percentile)\n")
    print("| ours | with similarities | similarities known |\n|---|---|---|")
    for name, (total, select, _) in own.items():
        print(f"| {name} | {milliseconds(total)} | {milliseconds(select)} |")
    print("\n| peer | ms | beside our | ratio (5th–95th percentile) | same rows |\n|---|---|---|---|---|")
    for name, (seconds, rows) in peers.items():
        beside = PEERS[name][0]
        ratio = seconds / own[beside][0]
        low, middle, high = np.percentile(ratio, [5, 50, 95])
        same = sum(a == b for a, b in zip(rows, own[beside][2])) if "MMR" in name else None
        print(f"| {name} | {milliseconds(seconds)} | {beside} | {middle:.3g} ({low:.3g}–{high:.3g}) | "
              + (f"{same} of {count} |" if same is not None else "other objective |"))
    seconds, rows = timed(run_pot, [part[0] for part in given], runs=1)
    published = own["georag-published"]
    print(f"| POT, published greedy, one question | {seconds * 1e3:.4g} | georag-published | {seconds / published[0][0]:.3g} | "
          f"{int(rows == published[2][0])} of 1 |")


def sweep(binary, data, axis, values, given_for):
    """Median milliseconds of everything at each value, as series for a plot."""
    series = {}
    for value in values:
        given = given_for(value)
        medians = {f"georag: {name}": np.median(total) for name, (total, _, _) in ours(binary, given).items()}
        medians |= {name: np.median(seconds) for name, (seconds, _) in compare(given).items()}
        print(f"\n{axis}={value}: " + ", ".join(f"{name} {seconds * 1e3:.3g} ms" for name, seconds in medians.items()))
        for name, seconds in medians.items():
            series.setdefault(name, []).append((value, max(seconds, 1e-6) * 1e3))
    return series


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except OSError:
        return platform.processor()


def main():
    warnings.simplefilter("ignore")
    sys.stdout.reconfigure(line_buffering=True)
    data = corpus()
    print(f"{processor()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}; "
          f"corpus {data[0]}, {len(data[1])} passages; " + ", ".join(f"{name} {version(name)}" for name in PACKAGES))
    sizes = [k for k in (50, 100, 200, 500, 1000, 2000) if k <= len(data[1])]
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/ours"
        subprocess.run(["go", "build", "-o", binary, "./bench/ours"], cwd=ROOT, check=True)
        table(binary, data, min(20, len(data[2])), min(200, sizes[-1]))
        by_k = sweep(binary, data, "K", sizes, lambda k: problems(data, 1, k))
        by_d = sweep(binary, data, "d", (384, 768, 1536, 3072, 4096), lambda d: problems(data, 1, min(200, sizes[-1]), d))
    (ROOT / "docs/time-by-k.svg").write_text(log_log(by_k, "candidates K (d=384, k=5)", "ms of CPU per question"))
    (ROOT / "docs/time-by-d.svg").write_text(log_log(by_d, f"dimension d (K={min(200, sizes[-1])}, k=5)", "ms of CPU per question"))


if __name__ == "__main__":
    sys.exit(main())
