"""Training texts from WordNet's data files, and batches of related ones.

Glosses and their names, passages of neighbouring glosses, and passages about made-up names with questions about them:
those teach the table how much a rare name weighs beside the words around it.
"""

from typing import NamedTuple

import numpy as np

PARTS = ("noun", "verb", "adj", "adv")
PASSAGE_WORDS = 80
GLOSSES, NAMES, PASSAGES = 44_000, 12_000, 8_000
EMBEDDED = 42_672  # of those; with the made-up ones about five minutes of one core
MADE_UP = 8_000
COMMON_WORDS = 4_000  # ids below are too common for a made-up name
QUESTIONS = (
    "Who is {}?", "What is {}?", "{}", "When was {} born?", "Where is {} located?", "Who directed {}?",
    "What is {} known for?", "In which country is {}?", "When did {} die?", "{} history", "List of works by {}",
    "Who founded {}?",
)  # fmt: skip

GLOSS, NAME, PASSAGE, TOLD, QUESTION = range(5)


class Texts(NamedTuple):
    """Texts and, for each, its kind, its place in WordNet's order, where neighbours are related, and the row of the
    gloss that its name has or of the passage that answers it; -1 for none."""

    texts: list
    kinds: np.ndarray
    places: np.ndarray
    partners: np.ndarray


def training_texts(folder, vocabulary):
    entries = list(synsets(folder))
    rows = drawn(entries)
    first = len(rows)
    rows += made_up(entries, vocabulary)
    texts, kinds, places = zip(*rows)
    glosses = {place: row for row, (_, kind, place) in enumerate(rows) if kind == GLOSS}
    partners = np.full(len(rows), -1)
    for row, (_, kind, place) in enumerate(rows[:first]):
        if kind == NAME:
            partners[row] = glosses.get(place, -1)
    partners[first + MADE_UP :] = np.arange(first, first + MADE_UP)
    return Texts(list(texts), np.array(kinds), np.array(places), partners)


def drawn(entries):
    """Names are of glosses that are drawn too, so that a batch can hold both."""
    passages = list(passages_of(entries))
    random = np.random.default_rng(0)
    drawn_passages = random.permutation(len(passages))[:PASSAGES]
    glosses = random.permutation(len(entries))[:GLOSSES]
    rows = [(f"{entries[i][0][0]}. {entries[i][1]}", GLOSS, i) for i in glosses]
    rows += [(entries[i][0][0], NAME, i) for i in glosses[:NAMES]]
    rows += [(passages[i][1], PASSAGE, passages[i][0]) for i in drawn_passages]
    return [rows[i] for i in np.random.default_rng(5).permutation(len(rows))[:EMBEDDED]]


def synsets(folder):
    """(names, gloss) of every synset in file order."""
    for part in PARTS:
        with open(folder / f"data.{part}", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("  "):  # the licence at the head of the file
                    continue
                fields, gloss = line.split(" | ")
                words = fields.split()[4 : 4 + 2 * int(fields.split()[3], 16) : 2]
                yield [word.split("(")[0].replace("_", " ") for word in words], gloss.strip()


def passages_of(entries):
    """(place, text) of passages of about 80 words."""
    parts, words = [], 0
    for place, (names, gloss) in enumerate(entries):
        parts.append(f"{', '.join(names)}. {gloss}")
        words += len(parts[-1].split())
        if words >= PASSAGE_WORDS:
            yield place, "; ".join(parts)
            parts, words = [], 0


def made_up(entries, vocabulary):
    """Passages about made-up names, then a question about each, in the same order."""
    random = np.random.default_rng(3)
    starts = [t for t in vocabulary[COMMON_WORDS:] if t.isascii() and t.isalpha() and len(t) > 2]
    ends = [t[2:] for t in vocabulary if t.startswith("##") and t[2:].isascii() and t[2:].isalpha() and len(t) > 3]

    def word():
        start = starts[random.integers(len(starts))]
        return (start + (ends[random.integers(len(ends))] if random.random() < 0.4 else "")).capitalize()

    told, asked = [], []
    for _ in range(MADE_UP):
        name = " ".join(word() for _ in range(random.integers(1, 4)))
        place, more = random.integers(len(entries) - 4), random.integers(0, 4)
        glosses = "; ".join(gloss for _, gloss in entries[place : place + 1 + more])
        told.append((f"{name}. {name} is {glosses}", TOLD, place))
        asked.append((QUESTIONS[random.integers(len(QUESTIONS))].format(name), QUESTION, place))
    return told + asked


def batches(texts, blocks=8, size=64):
    """Endless batches of rows: blocks of neighbours, of one kind or of pairs."""
    shares = {GLOSS: 0.3, PASSAGE: 0.3, NAME: 0.15, QUESTION: 0.25}
    random = np.random.default_rng(0)
    orders = []
    for kind in shares:
        paired = texts.partners >= 0 if kind in (NAME, QUESTION) else True
        rows = np.flatnonzero((texts.kinds == kind) & paired)
        orders.append(rows[np.argsort(texts.places[rows], kind="stable")])
    while True:
        batch = []
        for pick in random.choice(len(orders), blocks, p=list(shares.values())):
            pairs = texts.partners[orders[pick][0]] >= 0
            width = size // 2 if pairs else size
            start = random.integers(len(orders[pick]) - width)
            rows = orders[pick][start : start + width]
            batch += [rows, texts.partners[rows]] if pairs else [rows]
        yield np.unique(np.concatenate(batch))
