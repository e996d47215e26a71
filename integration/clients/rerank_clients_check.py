"""Reranks documents at georag with the clients that people have.

Usage: rerank_clients_check.py URL, with {"query", "documents", "key"} as JSON on standard input. Prints one line of JSON: of each client
the indices of the documents in the order in which the client ends up, and their scores, or how it failed.
"""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it asks the network
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

url, asked = sys.argv[1], json.load(sys.stdin)
query, documents, key = asked["query"], asked["documents"], asked["key"]
found = {}


def client(run):
    try:
        ranked = list(run())
        found[run.__name__] = {"order": [documents.index(i) if isinstance(i, str) else i for i, _ in ranked], "scores": [s for _, s in ranked]}
    except Exception as failure:
        found[run.__name__] = {"error": "%s: %s" % (type(failure).__name__, failure)}


@client
def cohere_v2():
    import cohere
    answer = cohere.ClientV2(api_key=key, base_url=url).rerank(model="any", query=query, documents=documents)
    return [(r.index, r.relevance_score) for r in answer.results]


@client
def cohere_v2_top_n():
    import cohere
    answer = cohere.ClientV2(api_key=key, base_url=url).rerank(model="any", query=query, documents=documents, top_n=3)
    return [(r.index, r.relevance_score) for r in answer.results]


@client
def cohere_v1():
    import cohere
    answer = cohere.Client(api_key=key, base_url=url).rerank(model="any", query=query, documents=documents, return_documents=True)
    return [(r.document.text, r.relevance_score) for r in answer.results]


@client
def langchain_cohere():
    from langchain_cohere import CohereRerank
    from langchain_core.documents import Document
    ranker = CohereRerank(model="any", cohere_api_key=key, base_url=url, top_n=len(documents))
    ranked = ranker.compress_documents([Document(page_content=d) for d in documents], query)
    return [(d.page_content, d.metadata["relevance_score"]) for d in ranked]


@client
def haystack_tei():
    from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
    from haystack.dataclasses import Document
    from haystack.utils import Secret
    ranker = HuggingFaceTEIRanker(url=url, token=Secret.from_token(key), top_k=len(documents))
    ranked = ranker.run(query=query, documents=[Document(content=d) for d in documents])["documents"]
    return [(d.content, d.score) for d in ranked]


@client
def llama_index_tei():
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
    ranker = TextEmbeddingInference(model_name="any", base_url=url, auth_token=key, top_n=len(documents))
    ranked = ranker.postprocess_nodes([NodeWithScore(node=TextNode(text=d)) for d in documents], query_str=query)
    return [(n.node.get_content(), n.score) for n in ranked]


@client
def llama_index_jina():
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.postprocessor.jinaai_rerank import JinaRerank
    ranker = JinaRerank(model="any", base_url=url + "/v1", api_key=key, top_n=len(documents))
    ranked = ranker.postprocess_nodes([NodeWithScore(node=TextNode(text=d)) for d in documents], query_str=query)
    return [(n.node.get_content(), n.score) for n in ranked]


def litellm_rerank(model):
    import litellm
    litellm.suppress_debug_info = True
    answer = litellm.rerank(model=model, api_base=url, api_key=key, query=query, documents=documents, top_n=len(documents))
    return [(r["index"], r["relevance_score"]) for r in answer.results]


@client
def litellm_cohere():
    return litellm_rerank("cohere/any")


@client
def litellm_jina():
    return litellm_rerank("jina_ai/any")


@client
def litellm_vllm():
    return litellm_rerank("hosted_vllm/any")


print(json.dumps(found))
