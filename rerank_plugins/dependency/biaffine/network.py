"""The network, from words to tags and to scores of every head and relation (Dozat & Manning 2017).

    x_i  = [sum of the word's piece embeddings; its fixed vector]      h1 = BiLSTM(x)   h2 = BiLSTM(h1)
    tag  : softmax(T h1_i)                                             (lower layer: Søgaard & Goldberg 2016)
    arc  : s(j -> i) = d_i' U a_j + u' a_j                             d, a = ReLU(M h2): as dependent, as head
    label: s(r; j -> i) = [q_i; 1]' W_r [p_j; 1]                       q, p likewise; the root has an a and a p

Unlike the network of the paper, this one reads pieces instead of tags and pre-trained vectors, predicts the tags too,
and has smaller layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Memory, Packing, Params, bilstm

NEVER = np.float32(-1e9)  # the score of a head past the end of the sentence


@dataclass(frozen=True)
class Sizes:
    """The widths of the layers; `vector` is that of the fixed word vectors, `lstm` that of one direction."""

    piece: int = 128
    vector: int = 64
    lstm: int = 160
    arc: int = 192
    label: int = 64


class Roles(NamedTuple):
    """Vectors of each word as dependent and as head: d and a of arcs (rows, arc), q and p of labels (rows, label)."""

    dependent: Float32
    head: Float32
    label_dependent: Float32
    label_head: Float32


def shapes(sizes: Sizes, pieces: int, tags: int, relations: int) -> dict[str, tuple[int, ...]]:
    """The shape of each array of weights."""
    shape: dict[str, tuple[int, ...]] = {"pieces": (pieces, sizes.piece)}
    for layer, width in (("lstm1", sizes.piece + sizes.vector), ("lstm2", 2 * sizes.lstm)):
        for direction in ("forward", "backward"):
            shape[f"{layer}.{direction}.w"] = width, 4 * sizes.lstm
            shape[f"{layer}.{direction}.u"] = sizes.lstm, 4 * sizes.lstm
            shape[f"{layer}.{direction}.b"] = (4 * sizes.lstm,)
    roles = 2 * (sizes.arc + sizes.label)
    return shape | {
        "tag.w": (2 * sizes.lstm, tags),
        "tag.b": (tags,),
        "roles.w": (2 * sizes.lstm, roles),
        "roles.b": (roles,),
        "root.arc": (sizes.arc,),
        "root.label": (sizes.label,),
        "arc.w": (sizes.arc, sizes.arc),
        "arc.b": (sizes.arc,),
        "label.w": (sizes.label + 1, relations * (sizes.label + 1)),
    }


def initial(sizes: Sizes, pieces: int, tags: int, relations: int, rng: np.random.Generator) -> Params:
    """Initial weights: uniform as in Glorot & Bengio (2010), forget gates open, biaffine terms 0."""
    params: Params = {}
    for name, shape in shapes(sizes, pieces, tags, relations).items():
        layer, _, part = name.rpartition(".")
        if name == "pieces":
            params[name] = rng.normal(0, 0.3, shape).astype(np.float32)
        elif layer.startswith("lstm") and part == "b":
            params[name] = np.repeat(np.array([0, 1, 0, 0], np.float32), sizes.lstm)
        elif part in ("w", "u") and layer not in ("arc", "label"):
            bound = np.sqrt(6 / sum(shape))
            params[name] = rng.uniform(-bound, bound, shape).astype(np.float32)
        else:
            params[name] = np.zeros(shape, np.float32)
    return params


def sum_pieces(table: Float32, rows: Int64, owners: Int64, words: int) -> Float32:
    """(words, width) the sum of the rows of each word; `owners` (ascending) is the word that each row belongs to."""
    sums = np.zeros((words, table.shape[1]), np.float32)
    if len(rows):
        own, starts = np.unique(owners, return_index=True)
        sums[own] = np.add.reduceat(table[rows].astype(np.float32, copy=False), starts, axis=0)
    return sums


def encode(
    x: Float32, params: Params, packing: Packing, drop: Float32 | None = None
) -> tuple[Float32, Float32, list[list[Memory]]]:
    """States of both layers (rows, 2H each), and what the gradients need; `drop` scales the input of the upper one."""
    lower, memory1 = bilstm(x, params, "lstm1", packing)
    upper, memory2 = bilstm(lower if drop is None else lower * drop, params, "lstm2", packing)
    return lower, upper, [memory1, memory2]


def roles(states: Float32, params: Params) -> tuple[Float32, Roles]:
    """The vectors of all roles in one array (rows, 2 arc + 2 label), and its parts."""
    joined = np.maximum(states @ params["roles.w"] + params["roles.b"], 0)
    return joined, split_roles(joined, params)


def split_roles(joined: Float32, params: Params) -> Roles:
    """Views of the four parts of an array of roles."""
    arc, label = len(params["root.arc"]), len(params["root.label"])
    return Roles(*np.split(joined, [arc, 2 * arc, 2 * arc + label], axis=1))


def padded(rows: Float32, grid: Int64) -> Float32:
    """(sentences, longest, width) the vector of each word; zeros past the end of a sentence."""
    return np.vstack([rows, np.zeros((1, rows.shape[1]), np.float32)])[grid]


def with_root(rows: Float32, root: Float32, grid: Int64) -> Float32:
    """(sentences, 1 + longest, width) the vector of the root symbol, then those of the words."""
    start = np.broadcast_to(root, (len(grid), 1, len(root)))
    return np.concatenate([start, padded(rows, grid)], axis=1)


def arc_scores(words: Roles, params: Params, packing: Packing) -> Float32:
    """(sentences, longest, 1 + longest) the score of each head (0: the root symbol) for each word."""
    grid = packing.grid()
    heads = with_root(words.head, params["root.arc"], grid)
    scores: Float32 = padded(words.dependent @ params["arc.w"], grid) @ heads.transpose(0, 2, 1)
    scores += np.einsum("sjw,w->sj", heads, params["arc.b"])[:, None]
    for length in np.unique(packing.lengths):
        scores[packing.lengths == length, :, 1 + length :] = NEVER
    return scores


def label_inputs(words: Roles, params: Params, heads: Int64) -> tuple[Float32, Float32]:
    """[q; 1] of each word and [p; 1] of its head (rows, label + 1 each); `heads` are rows, -1 for the root symbol."""
    governors = np.vstack([words.label_head, params["root.label"]])[heads]
    ones = np.ones((len(heads), 1), np.float32)
    return np.hstack([words.label_dependent, ones]), np.hstack([governors, ones])


def label_scores(dependents: Float32, governors: Float32, params: Params) -> tuple[Float32, Float32]:
    """The scores (rows, relations), and for the gradient the products [q; 1]' W_r (rows, relations, label + 1)."""
    width = dependents.shape[1]
    products = (dependents @ params["label.w"]).reshape(len(dependents), -1, width)
    return np.einsum("irw,iw->ir", products, governors), products
