"""Queries a Qdrant through georag with Qdrant's official Python client.

Usage: qdrant_client_check.py URL GRPC_PORT QUESTION, with the question's vector as JSON on
standard input. Prints what it found as one line of JSON.
"""

import base64
import json
import sys
import warnings

from qdrant_client import QdrantClient, models

url, grpc_port, question, vector = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.load(sys.stdin)
asking = {"X-Georag-Select": "default", "X-Georag-Query": base64.urlsafe_b64encode(question.encode()).decode()}


def shown(points):
    return [{"id": p.id, "score": p.score, "tenant": (p.payload or {}).get("tenant"), "vector": len(p.vector or [])} for p in points]


found = {}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    plain = QdrantClient(url=url)
    found["warnings"] = [str(w.message) for w in told]
found["exists"] = plain.collection_exists("demo")
found["count"] = plain.count("demo").count
found["plain"] = shown(plain.query_points("demo", query=vector, limit=5, with_payload=True).points)
plain.create_collection("python", vectors_config=models.VectorParams(size=3, distance=models.Distance.COSINE))
plain.upsert("python", points=[models.PointStruct(id=7, vector=[1, 0, 0], payload={"n": 2**53 + 1}),
                               models.PointStruct(id="4b6a3e6e-9d5c-4a8e-8c58-0a1b2c3d4e5f", vector=[0, 1, 0])])
records, _ = plain.scroll("python", with_vectors=True)
found["scrolled"] = [[r.id, r.payload, r.vector] for r in records]

select = QdrantClient(url=url, headers=asking)
tenant = models.Filter(must=[models.FieldCondition(key="tenant", match=models.MatchValue(value="a"))])
found["selected"] = shown(select.query_points("demo", query=vector, limit=5, with_payload=True, with_vectors=True).points)
found["filtered"] = shown(select.query_points("demo", query=vector, limit=5, with_payload=["tenant"], query_filter=tenant).points)
found["batch"] = [shown(answer.points) for answer in QdrantClient(url=url, headers={"X-Georag-Select": "default"}).query_batch_points("demo", requests=[
    models.QueryRequest(query=vector, limit=5), models.QueryRequest(query=models.NearestQuery(nearest=vector), limit=3, filter=tenant, with_payload=True)])]
try:
    select.query_points("demo", query=vector, offset=2)
    found["refused"] = "not at all"
except Exception as refusal:
    found["refused"] = "%s %s" % (type(refusal).__name__, refusal)

grpc = QdrantClient(url=url, grpc_port=grpc_port, prefer_grpc=True)
found["grpc"] = shown(grpc.query_points("demo", query=vector, limit=5, with_payload=True).points)
select = QdrantClient(url=url, grpc_port=grpc_port, prefer_grpc=True, headers={k.lower(): v for k, v in asking.items()})
found["grpc_selected"] = shown(select.query_points("demo", query=vector, limit=5, with_payload=True).points)
print(json.dumps(found))
