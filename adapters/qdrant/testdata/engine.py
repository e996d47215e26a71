"""Writes engine.json: what Qdrant's own engine answers, for the tests of the store and of the in-process server.

    pip install qdrant-edge-py==0.9.0 && python engine.py > engine.json

The PyPI package carries the engine of a Qdrant shard without the server around it.
"""

import json
import random
import tempfile

from qdrant_edge import *

rng = random.Random(11)
DIM = 8
VECTORS = {
    "cosine": EdgeVectorParams(DIM, Distance.Cosine),
    "dot": EdgeVectorParams(DIM, Distance.Dot),
    "euclid": EdgeVectorParams(DIM, Distance.Euclid),
    "manhattan": EdgeVectorParams(DIM, Distance.Manhattan),
    "half": EdgeVectorParams(DIM, Distance.Cosine, datatype=VectorStorageDatatype.Float16),
    "bytes": EdgeVectorParams(DIM, Distance.Dot, datatype=VectorStorageDatatype.Uint8),
    "bytecosine": EdgeVectorParams(DIM, Distance.Cosine, datatype=VectorStorageDatatype.Uint8),
}
CITIES = [(13.4, 52.52), (8.54, 47.37), (139.69, 35.68), (-74.0, 40.71), (179.9, -16.5), (-179.9, -16.6)]
WORDS = ["alpha", "beta", "gamma", "delta", "Straße", "東京"]


def vector(name):
    if name.startswith("byte"):
        return [float(rng.randint(0, 255)) for _ in range(DIM)]
    return [round(rng.gauss(0, 1) * rng.choice([0.5, 1, 2]), 4) for _ in range(DIM)]


def sparse():
    indices = sorted(rng.sample(range(20), 5))
    return {"indices": indices, "values": [round(rng.random() + 0.1, 4) for _ in indices]}


def payload(i):
    p = {
        "group": WORDS[i % 4],
        "year": 1990 + i % 20,
        "score": round(i / 7, 3),
        "draft": i % 3 == 0,
        "tags": [WORDS[i % 6], WORDS[(i + 1) % 6]][: i % 3],
        "text": f"{WORDS[i % 6]} and {WORDS[(i * 5) % 6]} number {i}",
        "date": f"20{10 + i % 12:02d}-0{1 + i % 9}-15T10:00:00Z",
        "place": {"lon": CITIES[i % 6][0], "lat": CITIES[i % 6][1]},
        "meta": {"lang": ["de", "en", "ja"][i % 3], "pages": i},
        "parts": [{"kind": WORDS[(i + j) % 3], "size": i + 10 * j} for j in range(i % 4)],
        "big": 2**53 + 1 + i,
    }
    if i % 5 == 0:
        p["note"] = None
    if i % 7 == 0:
        del p["group"]
    return p


def uuid(i):
    return f"{i:08x}-58cc-4372-a567-0e02b2c3d479"


points = []
for i in range(60):
    points.append({
        "id": i + 1 if i % 4 else uuid(i),
        "payload": payload(i),
        "vectors": {name: vector(name) for name in VECTORS if not (name == "dot" and i % 10 == 9)},
        "sparse": sparse(),
    })

shard = EdgeShard.create(tempfile.mkdtemp(), EdgeConfig(vectors=VECTORS, sparse_vectors={"words": EdgeSparseVectorParams()}))
shard.update(UpdateOperation.upsert_points([
    Point(p["id"], {**p["vectors"], "words": SparseVector(**p["sparse"])}, p["payload"]) for p in points
]))


def place(p):
    return GeoPoint(p["lon"], p["lat"])


def condition(c):
    if "is_empty" in c and "key" not in c:
        return IsEmptyCondition(c["is_empty"]["key"])
    if "is_null" in c and "key" not in c:
        return IsNullCondition(c["is_null"]["key"])
    if "has_id" in c:
        return HasIdCondition(set(c["has_id"]))
    if "has_vector" in c:
        return HasVectorCondition(c["has_vector"])
    if "nested" in c:
        return NestedCondition(c["nested"]["key"], filter_of(c["nested"]["filter"]))
    if "key" not in c:
        return filter_of(c)
    kwargs = {}
    if m := c.get("match"):
        kind, value = next(iter(m.items()))
        kwargs["match"] = {"value": MatchValue, "text": MatchText, "text_any": MatchTextAny, "phrase": MatchPhrase,
                           "any": MatchAny, "except": MatchExcept}[kind](value)
    if r := c.get("range"):
        dates = any(isinstance(v, str) for v in r.values())
        kwargs["range"] = (RangeDateTime if dates else RangeFloat)(**r)
    if b := c.get("geo_bounding_box"):
        kwargs["geo_bounding_box"] = GeoBoundingBox(place(b["top_left"]), place(b["bottom_right"]))
    if g := c.get("geo_radius"):
        kwargs["geo_radius"] = GeoRadius(place(g["center"]), g["radius"])
    if g := c.get("geo_polygon"):
        kwargs["geo_polygon"] = GeoPolygon([place(p) for p in g["exterior"]["points"]],
                                           [[place(p) for p in ring["points"]] for ring in g.get("interiors", [])])
    if v := c.get("values_count"):
        kwargs["values_count"] = ValuesCount(**v)
    for name in ("is_empty", "is_null"):
        if name in c:
            kwargs[name] = c[name]
    return FieldCondition(c["key"], **kwargs)


def filter_of(f):
    def each(clause):
        if clause not in f:
            return None
        return [condition(c) for c in (f[clause] if isinstance(f[clause], list) else [f[clause]])]

    minimum = None
    if "min_should" in f:
        minimum = MinShould([condition(c) for c in f["min_should"]["conditions"]], f["min_should"]["min_count"])
    return Filter(must=each("must"), should=each("should"), must_not=each("must_not"), min_should=minimum)


def field(key, **test):
    return {"key": key, **test}


# No boolean match: the binding turns True into the integer 1.
FIELD_TESTS = [
    field("group", match={"value": "alpha"}),
    field("group", match={"any": ["alpha", "delta"]}),
    field("group", match={"any": []}),
    field("group", match={"except": ["alpha", "delta"]}),
    field("tags", match={"value": "Straße"}),
    field("tags", match={"except": ["alpha"]}),
    field("year", match={"value": 1995}),
    field("year", match={"any": [1990, 1999]}),
    field("year", match={"except": [1990, 1999]}),
    field("big", match={"value": 2**53 + 2}),
    field("text", match={"text": "beta and"}),
    field("text", match={"text_any": "東京 delta"}),
    field("text", match={"phrase": "number 3"}),
    field("meta.lang", match={"value": "ja"}),
    field("parts[].kind", match={"value": "gamma"}),
    field("parts[].size", range={"gte": 60}),
    field("year", range={"gt": 1993, "lte": 1996}),
    field("year", range={"gte": 1993.5, "lt": 1996}),
    field("score", range={"lt": 1.5}),
    field("score", range={"gte": 4, "lte": 6.25}),
    field("date", range={"gte": "2015-01-01T00:00:00Z"}),
    field("date", range={"gt": "2012-03-15T10:00:00Z", "lte": "2014-05-15T12:00:00+02:00"}),
    field("place", geo_radius={"center": {"lon": 9, "lat": 48}, "radius": 100000}),
    field("place", geo_radius={"center": {"lon": 13.4, "lat": 52.5}, "radius": 700000}),
    field("place", geo_bounding_box={"top_left": {"lon": 5, "lat": 55}, "bottom_right": {"lon": 15, "lat": 45}}),
    field("place", geo_bounding_box={"top_left": {"lon": 179, "lat": -10}, "bottom_right": {"lon": -179, "lat": -20}}),
    field("place", geo_polygon={"exterior": {"points": [{"lon": 0, "lat": 40}, {"lon": 20, "lat": 40}, {"lon": 20, "lat": 60}, {"lon": 0, "lat": 60}, {"lon": 0, "lat": 40}]},
                                "interiors": [{"points": [{"lon": 7, "lat": 46}, {"lon": 10, "lat": 46}, {"lon": 10, "lat": 49}, {"lon": 7, "lat": 49}, {"lon": 7, "lat": 46}]}]}),
    field("tags", values_count={"gte": 2}),
    field("tags", values_count={"lt": 1}),
    field("nothing", values_count={"lt": 1}),
    field("group", values_count={"gt": 0, "lte": 1}),
    field("tags", is_empty=True),
    field("tags", is_empty=False),
    field("note", is_null=True),
    field("note", is_null=False),
    {"is_empty": {"key": "tags"}},
    {"is_empty": {"key": "group"}},
    {"is_empty": {"key": "note"}},
    {"is_null": {"key": "note"}},
    {"is_null": {"key": "nothing"}},
    {"has_id": [2, 3, 999, uuid(4)]},
    {"has_vector": "dot"},
    {"has_vector": "words"},
    {"nested": {"key": "parts", "filter": {"must": [field("kind", match={"value": "alpha"}), field("size", range={"gt": 30})]}}},
    {"nested": {"key": "parts", "filter": {"must_not": [field("kind", match={"value": "alpha"})]}}},
]
A, B, C = FIELD_TESTS[0], FIELD_TESTS[6], field("score", range={"gte": 2})
FILTERS = [{"must": [t]} for t in FIELD_TESTS] + [{"must_not": [t]} for t in FIELD_TESTS] + [
    {},
    {"must": A},
    {"should": [A, B, C]},
    {"must": [C], "should": [A, B]},
    {"must": [C], "must_not": [A]},
    {"min_should": {"conditions": [A, B, C], "min_count": 2}},
    {"must": [{"should": [A, B]}, {"must_not": [C]}]},
    {"must": [{"must": [{"should": [B, {"must": [A, C]}]}]}]},
    {"must": [], "must_not": []},
]


def scored(result):
    return [{"id": p.id if isinstance(p.id, int) else str(p.id), "score": p.score} for p in result]


def ids(filter):
    records, _ = shard.scroll(ScrollRequest(limit=1000, filter=filter_of(filter)))
    return [r.id if isinstance(r.id, int) else str(r.id) for r in records]


queries, mmr, rrf = [], [], []
for name in VECTORS:
    for _ in range(3):
        q = vector(name)
        top = shard.query(QueryRequest(limit=15, query=Query.Nearest(q, using=name)))
        queries.append({"using": name, "vector": q, "top": scored(top)})
for name in ("cosine", "dot", "euclid", "manhattan"):
    for diversity in (0.0, 0.3, 0.5, 0.9, 1.0):
        q = vector(name)
        got = shard.query(QueryRequest(limit=6, query=Mmr(q, 1 - diversity, 25, using=name)))
        mmr.append({"using": name, "vector": q, "diversity": diversity, "candidates": 25, "top": scored(got)})
for name in ("cosine", "euclid"):
    for k in (2, 60):
        q, words = vector(name), sparse()
        got = shard.query(QueryRequest(limit=12, query=Fusion.Rrf(k), prefetches=[
            Prefetch(limit=12, query=Query.Nearest(q, using=name)),
            Prefetch(limit=12, query=Query.Nearest(SparseVector(**words), using="words")),
        ]))
        rrf.append({"using": name, "vector": q, "sparse": words, "k": k, "top": scored(got)})
stored = [
    {"id": r.id if isinstance(r.id, int) else str(r.id), "vectors": {n: list(v) for n, v in r.vector.items() if n != "words"}}
    for r in shard.retrieve([points[1]["id"], points[2]["id"]], with_payload=False, with_vector=True)
]
print(json.dumps({
    "dimension": DIM, "points": points, "queries": queries, "mmr": mmr, "rrf": rrf, "stored": stored,
    "filters": [{"filter": f, "ids": ids(f)} for f in FILTERS],
}, ensure_ascii=False))
