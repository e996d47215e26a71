"""Makes run.txt, qrels.txt and expected.json beside this file: the measures of pytrec_eval and ir_measures.

    pip install ir_measures==0.4.3 pytrec_eval-terrier==0.5.11
    python expected.py
"""
import importlib.metadata
import json
import pathlib
import random

import ir_measures
import pytrec_eval

here = pathlib.Path(__file__).parent
rng = random.Random(20250101)
run, qrels = {}, {}
for q in range(25):
    documents = [f"d{rng.randrange(400):03d}" for _ in range(60)]
    # One score in eight repeats its neighbour's, and query 3 is all ties.
    scores, last = {}, 0.5
    for d in documents:
        if rng.random() > 0.125:
            last = 0.5 if q == 3 else round(rng.random(), 3)
        scores[d] = last
    if q == 4:  # differ in float64, tie in float32
        for i, d in enumerate(scores):
            scores[d] = 0.5 + i * 1e-10
    judged = {f"d{rng.randrange(400):03d}": rng.choice([-1, 0, 0, 1, 1, 2, 3]) for _ in range(40)}
    judged.update({d: rng.choice([0, 1, 2]) for d in rng.sample(sorted(scores), 8)})
    if q == 5:
        judged = {d: 0 for d in judged}
    if q != 6:  # judged, but nothing retrieved
        run[f"q{q}"] = scores
    if q != 7:  # retrieved, but not judged
        qrels[f"q{q}"] = judged

with open(here / "run.txt", "w") as f:
    for q, scores in run.items():
        for i, (d, s) in enumerate(scores.items()):
            f.write(f"{q} Q0 {d} {i} {s!r} random\n")
with open(here / "qrels.txt", "w") as f:
    for q, judged in qrels.items():
        for d, grade in judged.items():
            f.write(f"{q} 0 {d} {grade}\n")

names = {"P@5": "P_5", "P@10": "P_10", "R@5": "recall_5", "R@20": "recall_20",
         "nDCG@5": "ndcg_cut_5", "nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank"}
evaluator = pytrec_eval.RelevanceEvaluator(
    qrels, {"P.5,10", "recall.5,20", "ndcg_cut.5,10", "map", "recip_rank"})
per_query = evaluator.evaluate(run)
measures = [ir_measures.parse_measure(n) for n in names]
aggregate = ir_measures.calc_aggregate(measures, qrels, run)
expected = {
    "versions": {p: importlib.metadata.version(p) for p in ("pytrec_eval-terrier", "ir_measures")},
    "pytrec_eval": {n: {q: v[t] for q, v in per_query.items()} for n, t in names.items()},
    "ir_measures_aggregate": {str(m): v for m, v in aggregate.items()},
}
(here / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
