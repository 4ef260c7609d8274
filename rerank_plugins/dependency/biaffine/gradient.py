"""The losses of a batch and their gradient, derived by hand from the equations of network.py.

A name that begins with d is the gradient at an array.
"""

from __future__ import annotations

import numpy as np

from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Params, bilstm_gradient
from rerank_plugins.dependency.biaffine.network import (
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
from rerank_plugins.dependency.biaffine.training_batches import Batch, Dropout


def cross_entropy(scores: Float32, gold: Int64) -> tuple[float, Float32]:
    """The sum of -ln softmax(scores)[gold] over the rows, and its gradient at the scores (rows, classes)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    rows = np.arange(len(gold))
    loss = -np.log(np.maximum(shifted[rows, gold], 1e-30)).sum(dtype=np.float64)
    shifted[rows, gold] -= 1
    return float(loss), shifted


def loss_and_gradient(params: Params, batch: Batch, drop: Dropout) -> tuple[dict[str, float], Params]:
    """The mean losses per word (tag, arc, label), and the gradient of their sum at every weight.

    The gradient "pieces" of the piece table has only the rows `batch.rows`; repeated rows are not summed yet.
    """
    # Forward: inputs x, states h1 and h2 of the two LSTM layers, and the roles d, a, q, p of each word.
    packing, words = batch.packing, len(batch.words)
    grads: Params = {}
    embedded = sum_pieces(params["pieces"], batch.rows, batch.owners, len(batch.vectors))
    x = np.hstack([embedded, batch.vectors])[batch.words]
    x[:, : embedded.shape[1]] += params["treebanks"][batch.treebanks]
    x *= drop.input
    lower, upper, memories = encode(x, params, packing, drop.lower)
    top: Float32 = upper * drop.upper
    all_roles, _ = roles(top, params)
    parts = split_roles(all_roles * drop.roles, params)

    # Tags: cross entropy of softmax(T h1), and back to T and h1.
    tag_loss, dtag = cross_entropy(lower @ params["tag.w"] + params["tag.b"], batch.tags)
    dtag /= np.float32(words)
    grads["tag.w"], grads["tag.b"] = lower.T @ dtag, dtag.sum(axis=0)
    dlower = dtag @ params["tag.w"].T

    # Arcs: cross entropy of s(j -> i) = d_i' U a_j + u' a_j over the heads j of each word.
    grid = packing.grid()
    flat = grid.ravel() < words
    scores = arc_scores(parts, params, packing)
    arc_loss, darcs_flat = cross_entropy(scores.reshape(-1, scores.shape[2])[flat], batch.positions[grid.ravel()[flat]])
    darcs_flat /= np.float32(words)
    darcs = np.zeros_like(scores)
    darcs.reshape(-1, scores.shape[2])[flat] = darcs_flat
    # Back to U, u and the root's a, from there to d and a of the words.
    heads = with_root(parts.head, params["root.arc"], grid)
    dependents = padded(parts.dependent, grid)
    width = dependents.shape[2]
    projected = dependents @ params["arc.w"]
    dprojected = darcs @ heads
    column = darcs.sum(axis=1)
    dheads = darcs.transpose(0, 2, 1) @ projected + column[:, :, None] * params["arc.b"]
    flat_gradient = dprojected.reshape(-1, width)
    grads["arc.w"] = dependents.reshape(-1, width).T @ flat_gradient
    grads["arc.b"] = np.einsum("bj,bja->a", column, heads)
    grads["root.arc"] = dheads[:, 0].sum(axis=0)
    droles: Float32 = np.zeros_like(all_roles)
    dparts = split_roles(droles, params)  # views: what is written to the parts is written to `droles`
    dparts.dependent[grid.ravel()[flat]] = (flat_gradient @ params["arc.w"].T)[flat]
    dparts.head[grid.ravel()[flat]] = dheads[:, 1:].reshape(-1, width)[flat]

    # Labels: cross entropy of s(r; j -> i) = [q_i; 1]' W_r [p_j; 1] for the right head j; back to W, q and p.
    q, p = label_inputs(parts, params, batch.heads)
    scores, products = label_scores(q, p, params)
    label_loss, dlabels = cross_entropy(scores, batch.relations)
    dlabels /= np.float32(words)
    dp = np.einsum("ir,irw->iw", dlabels, products)[:, :-1]
    dproducts = (dlabels[:, :, None] * p[:, None]).reshape(len(q), -1)
    grads["label.w"] = q.T @ dproducts
    dparts.label_dependent[:] = (dproducts @ params["label.w"].T)[:, :-1]
    from_root = batch.heads < 0
    grads["root.label"] = dp[from_root].sum(axis=0)
    np.add.at(dparts.label_head, batch.heads[~from_root], dp[~from_root])

    # Roles: through dropout and ReLU back to M and h2.
    droles *= drop.roles
    droles[all_roles <= 0] = 0
    grads["roles.w"] = top.T @ droles
    grads["roles.b"] = droles.sum(axis=0)
    dupper = droles @ params["roles.w"].T * drop.upper
    # Both LSTM layers, back to the inputs x; of these, the pieces and the offsets are learnt.
    dlower += drop.lower * bilstm_gradient(dupper, lower * drop.lower, params, "lstm2", packing, memories[1], grads)
    dx = bilstm_gradient(dlower, x, params, "lstm1", packing, memories[0], grads)
    dx *= drop.input
    dinput = dx[:, : embedded.shape[1]]
    dwords = np.zeros_like(embedded)
    np.add.at(dwords, batch.words, dinput)
    grads["pieces"] = dwords[batch.owners]
    doffsets = grads["treebanks"] = np.zeros_like(params["treebanks"])
    np.add.at(doffsets, batch.treebanks, dinput)
    doffsets[0] = 0
    return {"tag": tag_loss / words, "arc": arc_loss / words, "label": label_loss / words}, grads
