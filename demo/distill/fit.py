"""Fits one vector per token so that sums of them stand to each other as the real model's sentence vectors do.

Three steps: each token's own output of the model, weighted by rarity, as the prior; ridge regression of sentence
vectors on token counts around that prior, and its main components; then gradient steps on the divergence between the
neighbours that the table and the model give to each text of a batch.
"""

import numpy as np
from scipy.sparse import csr_matrix, diags

LENGTH_POWER = 0.75  # texts of n tokens are divided by n^0.75: between unrelated tokens (0.5) and repeated ones (1)


def counts(sequences, vocabulary_size):
    """How often each token is in each text, without [CLS] and [SEP]: float32, texts × vocabulary."""
    inner = [ids[1:-1] for ids in sequences]
    rows = np.repeat(np.arange(len(inner)), [len(ids) for ids in inner])
    columns = np.fromiter((token for ids in inner for token in ids), int)
    return csr_matrix((np.ones(len(columns), np.float32), (rows, columns)), shape=(len(inner), vocabulary_size))


def by_length(bags):
    lengths = np.maximum(np.asarray(bags.sum(1)).ravel(), 1)
    return (diags((lengths**-LENGTH_POWER).astype(np.float32)) @ bags).tocsr()


def prior(outputs, usable):
    """The model's output for each token alone, centred and weighted by log(rank)^1.5: BERT's ids follow frequency."""
    first_word = 998  # before it: unused places, special tokens
    rank = np.maximum(np.arange(len(outputs)) - first_word, 1)
    weight = np.log(1 + rank) ** 1.5 * usable
    return ((outputs - outputs[usable].mean(0)) * weight[:, None]).astype(np.float32)


def ridge(bags, vectors, start, strength, steps):
    """argmin |bags·T − vectors|² + strength·|T − start|², by conjugate gradients from start scaled to fit best."""
    bags = by_length(bags)
    transposed = bags.T.tocsr()
    guess = bags @ start
    table = start * float((guess * vectors).sum() / (guess * guess).sum())
    residual = transposed @ (vectors - bags @ table)
    direction, square = residual.copy(), (residual**2).sum(0)
    for _ in range(steps):
        image = transposed @ (bags @ direction) + strength * direction
        step = square / np.maximum((direction * image).sum(0), 1e-20)
        table += step * direction
        residual -= step * image
        previous, square = square, (residual**2).sum(0)
        direction = residual + square / np.maximum(previous, 1e-20) * direction
    return table.astype(np.float32)


def main_components(bags, table, dimension):
    texts = by_length(bags) @ table
    _, axes = np.linalg.eigh(texts.T @ texts)
    return (table @ axes[:, ::-1][:, :dimension]).astype(np.float32)


class Neighbours:
    """Adam on KL(model ‖ table) of the softmax over cosines to the other texts of a batch, temperature 0.05."""

    def __init__(self, bags, vectors, table, batches, rate=0.01, temperature=0.05):
        self.bags, self.vectors, self.batches = bags, vectors, batches
        self.table = table / np.linalg.norm(table, axis=1).mean()
        self.rate, self.temperature = rate, temperature
        self.mean, self.square = np.zeros_like(table), np.zeros_like(table)
        self.seen = np.zeros(len(table), np.int32)

    def run(self, steps):
        for step in range(steps):
            self._step(next(self.batches), self.rate * (1 - step / steps))
        return self.table

    def _step(self, rows, rate):
        bags = self.bags[rows]
        tokens = np.unique(bags.indices)
        bags = bags[:, tokens]
        sums = bags @ self.table[tokens]
        norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        units = sums / norms
        wanted = self._softmax(self.vectors[rows] @ self.vectors[rows].T)
        slope = (self._softmax(units @ units.T) - wanted) / self.temperature / len(rows)
        slope = (slope + slope.T) @ units
        slope = (slope - (slope * units).sum(1, keepdims=True) * units) / norms
        self._adam(tokens, np.asarray(bags.T @ slope), rate)

    def _softmax(self, cosines):
        scores = cosines / self.temperature
        np.fill_diagonal(scores, -np.inf)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    def _adam(self, tokens, slope, rate):
        """Only the tokens of the batch move, each by the moments of the batches that held it."""
        first, second = 0.9, 0.99
        self.seen[tokens] += 1
        seen = self.seen[tokens][:, None]
        self.mean[tokens] = first * self.mean[tokens] + (1 - first) * slope
        self.square[tokens] = second * self.square[tokens] + (1 - second) * slope**2
        mean = self.mean[tokens] / (1 - first**seen)
        square = self.square[tokens] / (1 - second**seen)
        self.table[tokens] -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
