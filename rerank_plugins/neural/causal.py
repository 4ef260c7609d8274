"""Ln p of the pieces of sentences by a causal model; beginnings that sentences share are read once.

The sentences of an n-best list begin alike. Sorted, they form trees of prefixes: each node is a piece that is read
once, at the position of its depth, and attends to its ancestors alone (as in tree attention for speculative decoding,
Miao et al. 2024, SpecInfer). A model whose attention cannot be told so (`reads_trees`) gets a row for each sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import FloatArray
from rerank_plugins.neural.batches import batches, padded
from rerank_plugins.neural.logits import ln_p
from rerank_plugins.neural.opening import Opened

TREE = 512  # nodes of a tree at most: the cost of attention grows with the square of the nodes


class Run(NamedTuple):
    """Pieces that the model reads at once, the piece to predict after each, and how many have been predicted before."""

    read: list[int]
    predicted: list[int]
    known: int


class Tree(NamedTuple):
    """A tree of the prefixes of some runs: its nodes, and the path of each run through them.

    A parent stands before its children; that of a root is -1.
    """

    pieces: list[int]
    parents: list[int]
    depths: list[int]
    paths: dict[int, list[int]]


def causal_scores(
    opened: Opened, sentences: Sequence[Sequence[int]], start: int, end: int, tokens: int, *, share: bool
) -> list[FloatArray]:
    """(pieces + 1) ln p of each sentence's pieces and of `end`, given `start` and all pieces before.

    A sentence longer than the model's limit is read in windows that overlap by half. `tokens` bounds those of a batch.
    """
    runs = [(number, run) for number, ids in enumerate(sentences) for run in _windows(ids, start, end, opened.limit)]
    reads = [run.read for _, run in runs]
    trees = (
        list(_trees(reads, min(TREE, tokens))) if share else [_path(read, number) for number, read in enumerate(reads)]
    )
    scores = [np.zeros(len(ids) + 1) for ids in sentences]
    place = [0] * len(sentences)
    values: dict[int, FloatArray] = {}
    for batch in batches([len(tree.pieces) for tree in trees], tokens):
        values |= _scored(opened.model, [trees[number] for number in batch], [run for _, run in runs], share)
    for number, (sentence, run) in enumerate(runs):
        new = values[number][run.known :]
        scores[sentence][place[sentence] : place[sentence] + len(new)] = new
        place[sentence] += len(new)
    return scores


def is_causal(opened: Opened, start: int, end: int) -> bool:
    """Whether the first prediction is the same whatever comes after; not so where an encoder is opened as causal."""
    pieces = _probe(opened, start)
    first, second = causal_scores(opened, [pieces[:4], [*pieces[:2], *pieces[4:]]], start, end, 64, share=False)
    return bool(np.allclose(first[:2], second[:2], atol=_tolerance(opened)))


def _probe(opened: Opened, start: int) -> list[int]:
    """Eight pieces to try a model with."""
    size = opened.model.config.get_text_config().vocab_size
    return [piece for piece in range(min(9, size)) if piece != start][:8]


def _tolerance(opened: Opened) -> float:
    return 1e-3 if opened.model.dtype.itemsize >= 4 else 0.1


def reads_trees(opened: Opened, start: int, end: int) -> bool:
    """Whether the model gives a small tree the values of its sentences, that is, heeds our mask and positions."""
    pieces = _probe(opened, start)
    sentences = [pieces[:4], pieces[:6], [*pieces[:2], *pieces[5:]], pieces[3:]]
    try:
        shared = causal_scores(opened, sentences, start, end, 64, share=True)
    except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError):
        return False
    plain = causal_scores(opened, sentences, start, end, 64, share=False)
    return bool(np.allclose(np.concatenate(shared), np.concatenate(plain), atol=_tolerance(opened)))


def _windows(ids: Sequence[int], start: int, end: int, limit: int) -> Iterator[Run]:
    """The runs of a sentence: one, unless it is longer than the limit."""
    read, predicted = [start, *ids], [*ids, end]
    yield Run(read[:limit], predicted[:limit], 0)
    step = max(1, limit // 2)
    done = limit
    while done < len(read):
        stop = min(len(read), done + step)
        first = stop - limit
        yield Run(read[first:stop], predicted[first:stop], done - first)
        done = stop


def _path(read: list[int], run: int) -> Tree:
    length = len(read)
    return Tree(read, list(range(-1, length - 1)), list(range(length)), {run: list(range(length))})


def _trees(reads: Sequence[list[int]], largest: int) -> Iterator[Tree]:
    """Trees of the runs in sorted order, of at most `largest` nodes unless a run is longer."""
    tree, before, path = Tree([], [], [], {}), list[int](), list[int]()
    for run in sorted(range(len(reads)), key=lambda run: reads[run]):
        read = reads[run]
        shared = next(
            (at for at, (a, b) in enumerate(zip(before, read, strict=False)) if a != b), min(len(before), len(read))
        )
        if tree.pieces and len(tree.pieces) + len(read) - shared > largest:
            yield tree
            tree, shared = Tree([], [], [], {}), 0
        path = path[:shared]
        for depth in range(shared, len(read)):
            tree.parents.append(path[-1] if path else -1)
            path.append(len(tree.pieces))
            tree.pieces.append(read[depth])
            tree.depths.append(depth)
        tree.paths[run] = list(path)
        before = read
    if tree.pieces:
        yield tree


def _scored(model: Any, trees: Sequence[Tree], runs: Sequence[Run], share: bool) -> dict[int, FloatArray]:
    """(length) ln p of each run's predicted pieces, by the number of the run; those known before may be left 0."""
    read = padded([tree.pieces for tree in trees], 0)
    inputs: dict[str, Any] = {"input_ids": read, "use_cache": False}
    if share:
        inputs |= {"position_ids": padded([tree.depths for tree in trees], 0), "attention_mask": _mask(model, trees)}
    else:
        inputs["attention_mask"] = (np.arange(read.shape[1]) < [[len(tree.pieces)] for tree in trees]).astype(np.int64)
    spans = [(row, run, path, runs[run]) for row, tree in enumerate(trees) for run, path in tree.paths.items()]
    places = np.concatenate([np.asarray(path[r.known :], np.int64) + row * read.shape[1] for row, _, path, r in spans])
    targets = np.concatenate([np.asarray(r.predicted[r.known :], np.int64) for *_, r in spans])
    distinct, which = np.unique(places, return_inverse=True)
    values = ln_p(model, inputs, distinct // read.shape[1], distinct % read.shape[1], which, targets)
    lengths = np.cumsum([len(path) - r.known for _, _, path, r in spans])[:-1]
    return {
        run: np.concatenate([np.zeros(r.known), part])
        for (_, run, _, r), part in zip(spans, np.split(values, lengths), strict=True)
    }


def _mask(model: Any, trees: Sequence[Tree]) -> Any:
    """(trees, 1, nodes, nodes) what is added to the attention of each node: 0 for its ancestors and itself."""
    import torch

    size = max(len(tree.pieces) for tree in trees)
    heeds = np.zeros((len(trees), 1, size, size), bool)
    heeds[:, :, np.arange(size), np.arange(size)] = True  # a node that fills up has itself alone: no empty softmax
    for row, tree in enumerate(trees):
        for node, parent in enumerate(tree.parents):
            if parent >= 0:
                heeds[row, 0, node, : parent + 1] = heeds[row, 0, parent, : parent + 1]
    lowest = torch.finfo(model.dtype).min
    mask = torch.zeros(heeds.shape, dtype=model.dtype).masked_fill_(~torch.from_numpy(heeds), lowest)
    return mask.to(model.device)
