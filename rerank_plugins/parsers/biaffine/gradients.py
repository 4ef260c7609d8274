"""The training loss of the network and its gradient, by hand: back through the equations of network.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rerank_plugins.parsers.biaffine.lstm import Float32, Int64, Packing, Params, bilstm_gradient
from rerank_plugins.parsers.biaffine.network import (
    arc_scores,
    encode,
    label_inputs,
    label_scores,
    padded,
    roles,
    split_roles,
    sum_pieces,
    with_root,
)


class Batch(NamedTuple):
    """Sentences to learn from, packed: of each row the distinct word it is, its tag, head and relation.

    `heads` are rows (-1: root), `positions` the same heads within the sentence (0: root). Distinct word k sums the
    piece rows `rows[owners == k]` and has the fixed vector `vectors[k]` beside.
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


class Dropout(NamedTuple):
    """Factors (rows, width) on the input of the lower and upper LSTM, on the top states and on the roles."""

    input: Float32
    lower: Float32
    upper: Float32
    roles: Float32


def cross_entropy(scores: Float32, gold: Int64) -> tuple[float, Float32]:
    """Summed -ln softmax(scores)[gold] over rows, and its gradient at the scores."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    here = np.arange(len(gold))
    loss = -np.log(np.maximum(shifted[here, gold], 1e-30)).sum(dtype=np.float64)
    shifted[here, gold] -= 1
    return float(loss), shifted


def loss_and_gradient(params: Params, batch: Batch, drop: Dropout) -> tuple[dict[str, float], Params]:
    """Mean losses per word (tag, arc, label), and the gradient of their sum at every weight.

    Of the piece table, "pieces" is the gradient at the rows `batch.rows` alone, repeated rows not yet summed.
    """
    packing, words = batch.packing, len(batch.words)
    grads: Params = {}
    summed = sum_pieces(params["pieces"], batch.rows, batch.owners, len(batch.vectors))
    x = np.hstack([summed, batch.vectors])[batch.words] * drop.input
    lower, upper, memories = encode(x, params, packing, drop.lower)
    top: Float32 = upper * drop.upper
    every, _ = roles(top, params)
    every_kept = every * drop.roles
    parts = split_roles(every_kept, params)

    tag_loss, dtag = cross_entropy(lower @ params["tag.w"] + params["tag.b"], batch.tags)
    dtag /= np.float32(words)
    grads["tag.w"], grads["tag.b"] = lower.T @ dtag, dtag.sum(axis=0)
    dlower = dtag @ params["tag.w"].T

    grid = packing.grid()
    flat = grid.ravel() < words
    scores = arc_scores(parts, params, packing)
    arc_loss, darcs_flat = cross_entropy(scores.reshape(-1, scores.shape[2])[flat], batch.positions[grid.ravel()[flat]])
    darcs_flat /= np.float32(words)
    darcs = np.zeros_like(scores)
    darcs.reshape(-1, scores.shape[2])[flat] = darcs_flat
    heads = with_root(parts.head, params["root.arc"], grid)
    dependents = padded(parts.dependent, grid)
    projected = dependents @ params["arc.w"]
    dprojected = darcs @ heads
    column = darcs.sum(axis=1)
    dheads = darcs.transpose(0, 2, 1) @ projected + column[:, :, None] * params["arc.b"]
    width = dependents.shape[2]
    grads["arc.w"] = dependents.reshape(-1, width).T @ dprojected.reshape(-1, width)
    grads["arc.b"] = np.einsum("bj,bja->a", column, heads)
    grads["root.arc"] = dheads[:, 0].sum(axis=0)
    devery: Float32 = np.zeros_like(every)
    dparts = split_roles(devery, params)
    dparts.dependent[grid.ravel()[flat]] = (dprojected @ params["arc.w"].T).reshape(-1, width)[flat]
    dparts.head[grid.ravel()[flat]] = dheads[:, 1:].reshape(-1, width)[flat]

    q, p = label_inputs(parts, params, batch.heads)
    scores, products = label_scores(q, p, params)
    label_loss, dlabels = cross_entropy(scores, batch.relations)
    dlabels /= np.float32(words)
    dp = np.matmul(dlabels[:, None], products)[:, 0, :-1]
    dproducts = (dlabels[:, :, None] * p[:, None]).reshape(len(q), -1)
    grads["label.w"] = q.T @ dproducts
    dparts.label_dependent[:] = (dproducts @ params["label.w"].T)[:, :-1]
    from_root = batch.heads < 0
    grads["root.label"] = dp[from_root].sum(axis=0)
    np.add.at(dparts.label_head, batch.heads[~from_root], dp[~from_root])

    devery *= drop.roles
    devery[every <= 0] = 0
    grads["roles.w"] = top.T @ devery
    grads["roles.b"] = devery.sum(axis=0)
    dupper = (devery @ params["roles.w"].T) * drop.upper
    dlower += drop.lower * bilstm_gradient(dupper, lower * drop.lower, params, "lstm2", packing, memories[1], grads)
    dx = bilstm_gradient(dlower, x, params, "lstm1", packing, memories[0], grads)
    dx *= drop.input
    dwords = np.zeros_like(summed)
    np.add.at(dwords, batch.words, dx[:, : summed.shape[1]])
    grads["pieces"] = dwords[batch.owners]
    return {"tag": tag_loss / words, "arc": arc_loss / words, "label": label_loss / words}, grads
