"""Batches of trees as arrays, with the variation of training: lost forms, lower case, dropout masks.

Treebanks annotate alike but not the same. Each word's input has an offset of its treebank, learnt with the rest; that
of the first treebank is 0, so that the trained network annotates as the first one does (a treebank embedding, Stymne
et al. 2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rerank_plugins import DependencyTree
from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Packing
from rerank_plugins.dependency.biaffine.network import Sizes
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.parsing import batches
from rerank_plugins.dependency.biaffine.pieces import pieces, text_form


class Example(NamedTuple):
    """A tree to learn from; `treebank` is the number of its treebank."""

    tree: DependencyTree
    treebank: int = 0


class Batch(NamedTuple):
    """Packed training sentences: for each row the index of its distinct word, its tag, its head and its relation.

    `heads` are rows (-1: root), `positions` the same heads as positions in the sentence (0: root). The input of the
    distinct word k is the sum of the rows `rows[owners == k]` of the piece table, followed by its vector `vectors[k]`;
    `treebanks` is the number of each row's treebank.
    """

    packing: Packing
    words: Int64
    tags: Int64
    heads: Int64
    positions: Int64
    relations: Int64
    rows: Int64
    owners: Int64
    vectors: Float32
    treebanks: Int64


class Dropout(NamedTuple):
    """Dropout factors (rows, width) for the inputs of the lower and upper LSTM, for the upper states and the roles."""

    input: Float32
    lower: Float32
    upper: Float32
    roles: Float32


class Batches:
    """Makes batches of examples; the pieces of each word are looked up once."""

    def __init__(self, model: BiaffineModel, lose_form: float, lower_case: float, rng: np.random.Generator) -> None:
        self._model, self._lose_form, self._lower_case, self._rng = model, lose_form, lower_case, rng
        self._tags = {tag: i for i, tag in enumerate(model.tags)}
        self._relations = {relation: i for i, relation in enumerate(model.relations)}
        self._inputs: dict[str, tuple[int, list[int], int]] = {}
        self._vectors = np.vstack([model.vectors, np.zeros((1, model.vectors.shape[1]), np.float32)])

    def shuffled(self, examples: Sequence[Example], words: int) -> Iterator[list[Example]]:
        """Batches of sentences of similar length in random order; within each, the longest come first."""
        order = self._rng.permutation(len(examples))
        lengths = [len(examples[i].tree.words) for i in order]
        shuffled = [[int(order[i]) for i in batch] for batch in batches(lengths, words)]
        for batch in self._rng.permutation(len(shuffled)):
            yield [self._varied(examples[i]) for i in shuffled[batch]]

    def number(self, examples: Sequence[Example], words: int) -> int:
        """How many batches of about so many words there are."""
        return sum(1 for _ in batches([len(example.tree.words) for example in examples], words))

    def _varied(self, example: Example) -> Example:
        if self._rng.random() < self._lower_case:
            tree = example.tree
            lower = tuple(word.lower() for word in tree.words)
            example = example._replace(tree=DependencyTree(lower, tree.heads, tree.relations, tree.tags))
        return example

    def batch(self, examples: Sequence[Example]) -> Batch:
        """The trees, longest first, as arrays; each distinct word may lose its form, and its vector."""
        packing = Packing.of([len(example.tree.words) for example in examples])
        grid, total = packing.grid(), int(packing.starts[-1])
        distinct: dict[str, int] = {}
        words, tags, heads, positions, relations, treebanks = (np.empty(total, np.int64) for _ in range(6))
        # The gold tags, heads and relations of each row.
        for (tree, treebank), rows in zip(examples, grid, strict=True):
            rows = rows[: len(tree.words)]
            words[rows] = [distinct.setdefault(word, len(distinct)) for word in tree.words]
            tags[rows] = [self._tags[tag] for tag in tree.tags]
            relations[rows] = [self._relations[relation] for relation in tree.relations]
            positions[rows] = np.array(tree.heads) + 1
            heads[rows] = np.append(rows, -1)[list(tree.heads)]
            treebanks[rows] = treebank
        # The pieces of each distinct word, and its vector.
        lost_form, lost_vector = (self._rng.random(len(distinct)) < self._lose_form for _ in range(2))
        pieces_of: list[int] = []
        owners: list[int] = []
        vectors = np.full(len(distinct), -1, np.int64)
        for position, word in enumerate(distinct):
            form, others, vector = self._inputs_of(word)
            known = others if form < 0 or lost_form[position] else [form, *others]
            pieces_of += known
            owners += [position] * len(known)
            vectors[position] = -1 if lost_vector[position] else vector
        return Batch(
            packing, words, tags, heads, positions, relations,
            np.array(pieces_of, np.int64), np.array(owners, np.int64), self._vectors[vectors], treebanks,
        )  # fmt: skip

    def _inputs_of(self, word: str) -> tuple[int, list[int], int]:
        """The rows of the form, of the other pieces, and of the vector of a word; -1 where there is none."""
        inputs = self._inputs.get(word)
        if inputs is None:
            table = self._model.piece_rows
            form, *others = pieces(word)
            vector = self._model.vector_rows.get(text_form(word), -1)
            inputs = self._inputs[word] = table.get(form, -1), [table[p] for p in others if p in table], vector
        return inputs

    def dropout(self, sizes: Sizes, packing: Packing, rate: float) -> Dropout:
        """One mask for each sentence, the same for all its words (Gal & Ghahramani 2016)."""
        sentence = np.concatenate([np.arange(size) for size in packing.sizes])

        def mask(width: int) -> Float32:
            kept = self._rng.random((len(packing.lengths), width), np.float32) >= rate
            factors: Float32 = np.asarray(kept / (1 - rate), np.float32)
            return np.take(factors, sentence, axis=0)

        widths = (sizes.piece + sizes.vector, 2 * sizes.lstm, 2 * sizes.lstm, 2 * (sizes.arc + sizes.label))
        return Dropout(*(mask(width) for width in widths))
