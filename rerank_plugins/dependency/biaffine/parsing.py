"""Parses with a trained network: sentences in batches of similar length, each distinct word looked up once.

The tree is the best one with one root under the scores of arcs (Chu & Liu 1965, Edmonds 1967). For most sentences, the
best heads of the single words already form a tree with one root, which is checked for a whole batch at once. For the
others, a constant larger than any difference between trees is subtracted from the arcs of the root symbol, so that the
best arborescence has as few of them as possible, which is one. Contracting a cycle takes O(n^2), and there are fewer
than n cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from rerank_plugins import DependencyTree, FloatArray, IntArray, Sentence
from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Packing, Params, lower_states, upper_states
from rerank_plugins.dependency.biaffine.network import Roles, arc_scores, label_inputs, label_scores, roles
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.kit.kernels import filling_kernel, part


def best_trees(scores: Float32, lengths: Int64) -> Int64:
    """The heads (sentences, longest; 0: the root symbol) of the best tree with one root of each sentence.

    `scores` (sentences, longest, 1 + longest) are those of each head for each word; scores past the end of a sentence
    must be very low. The heads past the end of a sentence are 0.
    """
    # The best head of each word.
    heads = np.asarray(scores.argmax(axis=2), np.int64)
    words = np.arange(1, scores.shape[2])
    inside = words <= lengths[:, None]
    heads[~inside] = 0
    # They form a tree if the root symbol is above every word; it must be the head of exactly one.
    above = np.hstack([np.zeros((len(heads), 1), np.int64), heads])
    for _ in range(int(scores.shape[1]).bit_length()):  # doubling: the ancestors 1, 2, 4, 8 … steps up
        above = np.take_along_axis(above, above, axis=1)
    trees = ((above == 0).all(axis=1)) & (((heads == 0) & inside).sum(axis=1) == 1)
    # The other sentences need the algorithm.
    others = np.flatnonzero(~trees & (lengths > 0))
    if len(others):
        fill_trees(np.asarray(scores, np.float32), lengths, others, *_space(1 + int(lengths[others].max())), heads)
    return heads


def best_tree(scores: Float32) -> Int64:
    """The heads (n; 0: the root symbol) of the best tree with one root; `scores` (n, 1 + n) must be finite.

    An arc from a word to itself is never chosen.
    """
    n = len(scores)
    heads: Int64 = np.zeros(n, np.int64)
    chosen = np.zeros(1, np.int64)
    fill_trees(np.asarray(scores, np.float32)[None], np.array([n]), chosen, *_space(1 + n), heads[None])
    return heads


def _space(nodes: int) -> tuple[FloatArray, IntArray, IntArray]:
    """The working space of `fill_trees` for sentences of so many nodes, the root symbol among them."""
    return np.empty((nodes, nodes)), np.empty((2, nodes, nodes), np.int32), np.empty((5, 2 * nodes), np.int32)


@filling_kernel
def fill_trees(
    scores: Float32, lengths: Int64, chosen: Int64, matrix: FloatArray, places: IntArray, lists: IntArray, heads: Int64
) -> None:
    """Write the heads of the best tree of each of the chosen sentences; the other arrays are working space.

    `matrix[d, h]` is the score of the arc from node h to node d. A cycle is contracted to the first of its nodes, in
    place, until there is none. For cycle k, `places[0, k, h]` is the place in the cycle that an arc from h enters, and
    `places[1, k, d]` the one that an arc to d leaves. The rows of `lists` are the current head of each node, its mark,
    the nodes of all cycles, one cycle after the other, their heads within the cycle, and where each cycle ends.

    It is long because contraction and expansion of cycles share the lists of nodes, in place.
    """
    head, mark = lists[0], lists[1]
    node, within, ends = lists[2], lists[3], lists[4]
    enters, leaves = places[0], places[1]
    for sentence in chosen:
        n = lengths[sentence]
        # The scores, with a penalty on the arcs of the root symbol; no arc goes to oneself or to the root symbol.
        low = high = scores[sentence, 0, 0]
        for i in range(n):
            for j in range(n + 1):
                score = scores[sentence, i, j]
                low, high = score if score < low else low, score if score > high else high
        penalty = (n + 1) * (np.float64(high) - np.float64(low) + 1.0)
        for i in range(n + 1):
            for j in range(n + 1):
                matrix[i, j] = scores[sentence, i - 1, j] if i > 0 and i != j else -np.inf
            matrix[i, 0] -= penalty
        # The best head of each node: if there is no cycle, this is the best arborescence.
        head[0] = 0
        for i in range(1, n + 1):
            head[i] = best_of(matrix, i, n + 1)
        cycles = start = 0
        while True:
            # Walk up from each node; the walk that meets itself has come to a cycle.
            for i in range(n + 1):
                mark[i] = 0
            mark[0] = -1
            meeting = 0
            for i in range(1, n + 1):
                meeting = i
                while mark[meeting] == 0:
                    mark[meeting] = i
                    meeting = head[meeting]
                if mark[meeting] == i:
                    break
                meeting = 0
            if meeting == 0:
                break
            # List the nodes of the cycle, and mark them alone.
            for i in range(n + 1):
                mark[i] = 0
            end = start
            one = meeting
            while mark[meeting] == 0:
                mark[meeting] = 1
                node[end], within[end] = meeting, head[meeting]
                meeting = head[meeting]
                end += 1
            # An arc that enters the cycle replaces the arc of the cycle to the same node: its score is the gain.
            for i in range(n + 1):
                if mark[i] != 0:
                    continue
                gain = leaving = -np.inf
                enters[cycles, i] = leaves[cycles, i] = 0
                for k in range(start, end):
                    inner = node[k]
                    if matrix[inner, i] - matrix[inner, within[k]] > gain:
                        gain = matrix[inner, i] - matrix[inner, within[k]]
                        enters[cycles, i] = k - start
                    if matrix[i, inner] > leaving:
                        leaving = matrix[i, inner]
                        leaves[cycles, i] = k - start
                matrix[one, i], matrix[i, one] = gain, leaving
                if mark[head[i]] != 0:
                    head[i] = one
            # The first node stands for the cycle; the others are no nodes any more.
            for k in range(start, end):
                inner = node[k]
                matrix[one, inner] = -np.inf
                head[inner] = 0
                if k > start:
                    for i in range(n + 1):
                        matrix[i, inner] = -np.inf
            head[one] = best_of(matrix, one, n + 1)
            ends[cycles] = start = end
            cycles += 1
        # Expand the cycles, the last one first: each keeps its arcs, but for that to the node that is entered.
        for cycle in range(cycles - 1, -1, -1):
            start = ends[cycle - 1] if cycle > 0 else 0
            one = node[start]
            above = head[one]
            for i in range(n + 1):
                if head[i] == one:
                    head[i] = node[start + leaves[cycle, i]]
            for k in range(start, ends[cycle]):
                head[node[k]] = within[k]
            head[node[start + enters[cycle, above]]] = above
        for i in range(n):
            heads[sentence, i] = head[i + 1]


@part
def best_of(matrix: FloatArray, row: int, size: int) -> int:
    """The first column of the greatest value in a row."""
    best = 0
    for j in range(1, size):
        if matrix[row, j] > matrix[row, best]:
            best = j
    return best


BATCH = 2_000  # words
WORDS_A_BLOCK = 100  # words whose relations are scored at once: their products fit in the processor's cache


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
    # Each distinct word once, then a row for each word of the batch.
    packing = Packing.of([len(sentence) for sentence in sentences])
    grid = packing.grid()
    inside = grid < packing.starts[-1]
    words = list(chain.from_iterable(sentences))
    distinct = {word: number for number, word in enumerate(dict.fromkeys(words))}
    ids = np.empty(len(words), np.int64)
    ids[grid[inside]] = [distinct[word] for word in words]
    # Tags from the lower layer; the best tree under the scores of arcs from the upper one.
    params = model.params
    lower = lower_states(model.inputs(list(distinct)), ids, model.layers[0], packing)
    tags = (lower @ params["tag.w"] + params["tag.b"]).argmax(axis=1)
    _, parts = roles(upper_states(lower, model.layers[1], packing), params)
    positions = best_trees(arc_scores(parts, params, packing), packing.lengths)
    # The heads as rows, and the best relation to each.
    heads = np.empty(len(ids), np.int64)
    rows_of_heads = np.take_along_axis(np.hstack([np.full((len(grid), 1), -1), grid]), positions, axis=1)
    heads[grid[inside]] = rows_of_heads[inside]
    relations = _relations(model, _relation_scores(params, parts, heads), heads)
    return _trees(model, sentences, grid, positions, tags, relations)


def _relation_scores(params: Params, parts: Roles, heads: np.ndarray) -> Float32:
    """The scores of each relation to the heads (rows, relations)."""
    dependents, governors = label_inputs(parts, params, heads)
    blocks = [slice(start, start + WORDS_A_BLOCK) for start in range(0, len(heads), WORDS_A_BLOCK)]
    return np.concatenate([label_scores(dependents[block], governors[block], params)[0] for block in blocks])


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
