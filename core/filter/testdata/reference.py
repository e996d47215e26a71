"""Writes reference.json: curvatures, flows and filter decisions by two independent implementations.

    python -m venv venv && venv/bin/pip install POT==0.9.7.post1 GraphRicciCurvature==0.6.1
    venv/bin/python reference.py > reference.json

- "curvature" and "flow": GraphRicciCurvature on random graphs (its exact transport is POT's emd2).
- "filter": the whole filter, written here with numpy and POT's emd2 over all shortest paths.
"""
import json
import sys
from importlib.metadata import version

import networkx as nx
import numpy as np
import ot
from GraphRicciCurvature.OllivierRicci import OllivierRicci


def random_graph(rng, nodes, density, metric):
    """A connected graph; lengths in [1, 2] make every edge a shortest path, the case both definitions share."""
    graph = nx.Graph()
    for v in range(1, nodes):
        anchor = rng.integers(v)
        for u in range(v):
            if u == anchor or rng.random() < density:
                graph.add_edge(u, v, weight=float(rng.uniform(1, 2)) if metric else 1.0)
    return graph


def triples(graph, key):
    return [[u, v, graph[u][v][key]] for u, v in sorted((min(e), max(e)) for e in graph.edges())]


def ricci(graph, alpha, p):
    return OllivierRicci(graph, alpha=alpha, exp_power=p, method="OTD", proc=1, verbose="ERROR")


def curvature_cases(rng):
    for nodes in (5, 9, 14, 21, 30):
        for alpha, p in ((0.5, 2), (0.0, 0), (0.25, 1), (0.5, 5)):
            graph = random_graph(rng, nodes, rng.uniform(0.1, 0.8), metric=True)
            solver = ricci(graph.copy(), alpha, p)
            solver.compute_ricci_curvature()
            yield {"nodes": nodes, "alpha": alpha, "p": p, "lengths": triples(graph, "weight"),
                   "curvature": triples(solver.G, "ricciCurvature")}


def flow_cases(rng):
    for nodes in (6, 12, 21):
        for step_size, steps in ((1.0, 5), (0.5, 10)):
            graph = random_graph(rng, nodes, rng.uniform(0.2, 0.7), metric=False)
            solver = ricci(graph.copy(), 0.5, 2)
            solver.compute_ricci_flow(iterations=steps, step=step_size, delta=-1.0)
            yield {"nodes": nodes, "alpha": 0.5, "p": 2, "step_size": step_size, "steps": steps,
                   "edges": [edge[:2] for edge in triples(graph, "weight")],
                   "lengths": triples(solver.G, "weight")}


def topical(rng, k, topics=4, dim=64):
    """Similarities of a query (first) and k candidates around a few topics, rounded to keep the file small."""
    common = rng.normal(size=dim)
    centres = common + 0.7 * rng.normal(size=(topics, dim))
    vectors = np.vstack([common + 0.5 * rng.normal(size=dim),
                         centres[rng.integers(topics, size=k)] + 0.6 * rng.normal(size=(k, dim))])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.round(vectors @ vectors.T, 6)


def build_graph(similarity, tau_percentile):
    r = 1 - similarity
    tau = np.percentile(r[np.triu_indices(len(r), 1)], tau_percentile)
    adjacency = r >= tau
    adjacency[0, :] = adjacency[:, 0] = True
    np.fill_diagonal(adjacency, False)
    return adjacency


def shortest_paths(lengths):
    d = np.where(lengths > 0, lengths, np.inf)
    np.fill_diagonal(d, 0)
    for k in range(len(d)):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1])
    return d


def curvatures(adjacency, d, alpha, p):
    measures = np.zeros_like(d)
    for x in range(len(d)):
        neighbours = np.flatnonzero(adjacency[x])
        mass = np.exp(-d[x, neighbours] ** p)
        measures[x, neighbours] = (1 - alpha) * mass / mass.sum()
        measures[x, x] = alpha
    kappa = np.zeros_like(d)
    for x, y in np.argwhere(np.triu(adjacency)):
        if d[x, y] >= 1e-7:
            a, b = np.flatnonzero(measures[x]), np.flatnonzero(measures[y])
            w = ot.emd2(measures[x, a], measures[y, b], np.ascontiguousarray(d[np.ix_(a, b)]))
            kappa[x, y] = kappa[y, x] = 1 - w / d[x, y]
    return kappa


def filter_lengths(similarity, tau_percentile=50, p=2, alpha=0.5, steps=20, step_size=1.0):
    adjacency = build_graph(similarity, tau_percentile)
    edges = adjacency.sum()
    lengths = adjacency.astype(float)
    for _ in range(steps):
        lengths *= edges / lengths.sum()
        lengths *= 1 - step_size * curvatures(adjacency, shortest_paths(lengths), alpha, p)
    lengths *= edges / lengths.sum()
    return lengths[0, 1:]


def filter_cases(rng):
    for k, options in ((2, {}), (5, {}), (10, {"tau_percentile": 25}), (10, {"p": 5, "steps": 7}),
                       (15, {"tau_percentile": 75, "p": 1, "step_size": 0.3}), (20, {"alpha": 0.2, "step_size": 0.5}),
                       (20, {}), (50, {})):
        similarity = topical(rng, k)
        settings = {"tau_percentile": 50, "p": 2, "alpha": 0.5, "steps": 20, "step_size": 1.0, **options}
        yield {"k": k, **settings, "similarity": similarity.flatten().tolist(),
               "query_lengths": filter_lengths(similarity, **settings).tolist()}


if __name__ == "__main__":
    seed = 20240607
    rng = np.random.default_rng(seed)
    json.dump({"seed": seed, "python": sys.version.split()[0],
               "versions": {name: version(name) for name in ("POT", "GraphRicciCurvature", "numpy", "networkx")},
               "curvature": list(curvature_cases(rng)), "flow": list(flow_cases(rng)),
               "filter": list(filter_cases(rng))}, sys.stdout, separators=(",", ":"))
    print()
