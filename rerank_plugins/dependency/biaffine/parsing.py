"""Parses with a trained network: sentences in batches of similar length, each distinct word looked up once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.interfaces import Sentence
from rerank_plugins.dependency.biaffine.lstm import Float32, Packing
from rerank_plugins.dependency.biaffine.network import arc_scores, label_inputs, label_scores, roles
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.spanning_tree import best_trees
from rerank_plugins.dependency.biaffine.states import lower_states, upper_states
from rerank_plugins.kit.matrix_products import product

BATCH = 2_000  # words
BLOCK = 100  # words whose relations are scored at once: their products fit in the processor's cache


def parse_all(model: BiaffineModel, sentences: Sequence[Sentence]) -> list[DependencyTree]:
    """The tree of each sentence; no sentence may be empty."""
    trees: list[DependencyTree | None] = [None] * len(sentences)
    for chosen in batches([len(sentence) for sentence in sentences], BATCH):
        for position, tree in zip(chosen, _parse_batch(model, [sentences[i] for i in chosen]), strict=True):
            trees[position] = tree
    return [tree for tree in trees if tree is not None]


def batches(lengths: Sequence[int], words: int) -> Iterator[list[int]]:
    """The positions of the sentences, longest first, in batches of about so many words."""
    batch: list[int] = []
    size = 0
    for position in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        batch.append(position)
        size += lengths[position]
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _parse_batch(model: BiaffineModel, sentences: Sequence[Sentence]) -> list[DependencyTree]:
    # The inputs: each distinct word once, then a row for each word of the batch.
    params, packing = model.params, Packing.of([len(sentence) for sentence in sentences])
    grid = packing.grid()
    inside = grid < packing.starts[-1]
    words = list(chain.from_iterable(sentences))
    distinct = {word: number for number, word in enumerate(dict.fromkeys(words))}
    ids = np.empty(len(words), np.int64)
    ids[grid[inside]] = [distinct[word] for word in words]
    lower = lower_states(model.inputs(list(distinct)), ids, model.layers[0], packing)
    upper = upper_states(lower, model.layers[1], packing)
    # Tags from the lower layer; the best tree under the scores of arcs from the upper one.
    tags = (product(lower, params["tag.w"]) + params["tag.b"]).argmax(axis=1)
    _, parts = roles(upper, params)
    positions = best_trees(arc_scores(parts, params, packing), packing.lengths)
    # The heads as rows, and the best relation to each.
    heads = np.empty(len(ids), np.int64)
    rows_of_heads = np.take_along_axis(np.hstack([np.full((len(grid), 1), -1), grid]), positions, axis=1)
    heads[grid[inside]] = rows_of_heads[inside]
    dependents, governors = label_inputs(parts, params, heads)
    blocks = [slice(start, start + BLOCK) for start in range(0, len(ids), BLOCK)]
    scores = np.concatenate([label_scores(dependents[block], governors[block], params)[0] for block in blocks])
    return _trees(model, sentences, grid, positions, tags, _relations(model, scores, heads))


def _relations(model: BiaffineModel, scores: Float32, heads: np.ndarray) -> np.ndarray:
    """The best relation of each word; the word below the root symbol has the relation `root`, and no other word has."""
    if "root" in model.relations:
        root = model.relations.index("root")
        scores[heads >= 0, root] = -np.inf
        scores[heads < 0, root] = np.inf
    return np.asarray(scores.argmax(axis=1))


def _trees(
    model: BiaffineModel,
    sentences: Sequence[Sentence],
    grid: np.ndarray,
    positions: np.ndarray,
    tags: np.ndarray,
    relations: np.ndarray,
) -> list[DependencyTree]:
    trees = []
    for sentence, rows, heads in zip(sentences, grid, positions, strict=True):
        rows = rows[: len(sentence)]
        trees.append(
            DependencyTree(
                tuple(sentence),
                tuple((heads[: len(sentence)] - 1).tolist()),
                tuple(model.relations[r] for r in relations[rows].tolist()),
                tuple(model.tags[t] for t in tags[rows].tolist()),
            )
        )
    return trees
