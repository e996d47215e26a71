"""Asks a service with Cohere's official client, as its users do; argv: URL, key. Prints what came back as JSON."""
import json
import sys

import cohere

url, key = sys.argv[1:]
documents = ["the dam floods the valley", "bread is baked from flour", "the dam moved villagers from the valley"]
query = "what does the dam do to the valley"

v2 = cohere.ClientV2(api_key=key, base_url=url)
everything = v2.rerank(model="any", query=query, documents=documents)
first = v2.rerank(model="any", query=query, documents=documents, top_n=1)
v1 = cohere.Client(api_key=key, base_url=url)
objects = v1.rerank(model="any", query=query, documents=[{"text": d} for d in documents], top_n=2, return_documents=True)

refused = {}
for name, call in {
    "empty": lambda: v2.rerank(model="any", query=query, documents=[]),
    "key": lambda: cohere.ClientV2(api_key="wrong", base_url=url).rerank(model="any", query=query, documents=documents),
}.items():
    try:
        call()
    except cohere.core.ApiError as fault:
        refused[name] = fault.status_code


def ranks(answer):
    return [[r.index, r.relevance_score] for r in answer.results]


print(json.dumps({
    "all": ranks(everything), "first": ranks(first), "objects": ranks(objects),
    "text": objects.results[0].document.text if objects.results[0].document else None,
    "units": everything.meta.billed_units.search_units, "refused": refused,
}))
