"""Distil the static embedding table of adapters/static from all-MiniLM-L6-v2.

    python distill.py --wordnet /usr/share/wordnet ../../adapters/static/table.bin

Takes about ten minutes of one core: five to embed the training texts with the real model, the rest to fit the table.
--cache keeps the embedded texts for a second run.
"""

import argparse
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import fit  # noqa: E402
import texts as training  # noqa: E402
from teacher import Teacher  # noqa: E402

MAGIC = b"georag static 1\n"
DIMENSION = 320  # 29,524 tokens of 320 bytes stay below 10 MB with vocabulary and scales
RIDGE, RIDGE_STEPS, NEIGHBOUR_STEPS = 3.0, 12, 1000
UNKNOWN, START, END = "[UNK]", 101, 102


def embedded(texts, vocabulary, teacher, cache):
    """(token sequences, sentence vectors of the texts, vectors of each token alone)."""
    sequences = teacher.minilm.token_ids(texts)
    if cache and cache.exists():
        kept = np.load(cache)
        if len(kept["vectors"]) != len(texts):
            raise SystemExit(f"{cache}: of other texts; remove it")
        return sequences, kept["vectors"], kept["outputs"]
    vectors = teacher.embed_ids(sequences)
    outputs = teacher.embed_ids([[START, token, END] for token in range(len(vocabulary))])
    if cache:
        np.savez(cache, vectors=vectors, outputs=outputs)
    return sequences, vectors, outputs


def write(path, vocabulary, table, usable):
    """The format that adapters/static reads; the unknown token is kept with a zero vector."""
    kept = [i for i, token in enumerate(vocabulary) if usable[i] or token == UNKNOWN]
    names = "".join(vocabulary[i] + "\n" for i in kept).encode()
    rows = np.where(usable[:, None], table, 0)[kept]
    scale = np.abs(rows).max(axis=1) / 127
    quantised = np.rint(rows / np.where(scale > 0, scale, 1)[:, None]).astype(np.int8)
    with open(path, "wb") as out:
        out.write(MAGIC + struct.pack("<III", len(kept), table.shape[1], len(names)))
        out.write(names + scale.astype("<f4").tobytes() + quantised.tobytes())
    print(f"{path}: {len(kept)} tokens of {table.shape[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of data.noun, data.verb, …")
    parser.add_argument("--cache", type=Path, help="file ending in .npz")
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    teacher = Teacher()
    vocabulary = teacher.minilm.vocabulary
    usable = np.array([not (t.startswith("[") and t.endswith("]") and len(t) > 2) for t in vocabulary])
    texts = training.training_texts(options.wordnet, vocabulary)
    sequences, vectors, outputs = embedded(texts.texts, vocabulary, teacher, options.cache)
    bags = fit.counts(sequences, len(vocabulary))
    table = fit.ridge(bags, vectors, fit.prior(outputs, usable), RIDGE, RIDGE_STEPS)
    table = fit.main_components(bags, table, DIMENSION)
    table = fit.Neighbours(bags, vectors, table, training.batches(texts)).run(NEIGHBOUR_STEPS)
    write(options.target, vocabulary, table, usable)


if __name__ == "__main__":
    main()
