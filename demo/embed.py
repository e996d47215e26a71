"""Embed a file of passages or questions with all-MiniLM-L6-v2.

    python embed.py passages.jsonl passages.npy
    python embed.py --what question questions.jsonl questions.npy
    python embed.py --what subqueries questions.jsonl subqueries.npy
    python embed.py --folder data      # all three files of a folder, named as above

Passages are embedded as "title. text". The output is float32, C order, unit length:
(passages, 384), (questions, 384) or (questions, sub-queries each, 384), one row a line of input.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np

from minilm import MiniLM


def passage_texts(rows):
    return [f"{row['title']}. {row['text']}" for row in rows]


def question_texts(rows):
    return [row["question"] for row in rows]


def subquery_texts(rows):
    counts = {len(row["subqueries"]) for row in rows}
    if len(counts) != 1:
        raise SystemExit(f"questions differ in their number of sub-queries: {sorted(counts)}")
    return [text for row in rows for text in row["subqueries"]]


TEXTS = {"passage": passage_texts, "question": question_texts, "subqueries": subquery_texts}
FOLDER = (
    ("passage", "passages.jsonl", "passages.npy"),
    ("question", "questions.jsonl", "questions.npy"),
    ("subqueries", "questions.jsonl", "subqueries.npy"),
)


def read_rows(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_array(path, array):
    """Write through a temporary name, so that a crash leaves the old file."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as out:
        np.save(out, np.ascontiguousarray(array, np.float32))
    os.replace(temporary, path)


def embed_file(model, what, source, target):
    rows = read_rows(source)
    if not rows:
        raise SystemExit(f"{source}: no rows")
    vectors = model.embed(TEXTS[what](rows))
    if what == "subqueries":
        vectors = vectors.reshape(len(rows), -1, vectors.shape[1])
    write_array(target, vectors)
    print(f"{target}: {vectors.shape}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=sorted(TEXTS), default="passage")
    parser.add_argument("--folder", type=Path, help="embed this folder's passages and questions")
    parser.add_argument("source", type=Path, nargs="?")
    parser.add_argument("target", type=Path, nargs="?")
    options = parser.parse_args()
    if bool(options.folder) == bool(options.target):
        parser.error("give SOURCE and TARGET, or --folder")
    model = MiniLM()
    if options.folder:
        for what, source, target in FOLDER:
            embed_file(model, what, options.folder / source, options.folder / target)
    else:
        embed_file(model, options.what, options.source, options.target)


if __name__ == "__main__":
    main()
