"""Trains the parser on a treebank: Adam with a decaying learning rate, dropout, and dropout of word forms.

Some sentences are lower-cased, as the lists of decoders and recognisers often are. The final weights are a running
average of those of the last steps. The same data and settings give the same model on every processor.

The gradient is derived by hand from the equations of network.py; a name that begins with d is that at an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins import DependencyTree
from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Packing, Params, bilstm_gradient
from rerank_plugins.dependency.biaffine.network import (
    Sizes,
    arc_scores,
    encode,
    initial,
    label_inputs,
    label_scores,
    padded,
    roles,
    split_roles,
    sum_pieces,
    with_root,
)
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.parsing import batches
from rerank_plugins.dependency.biaffine.pieces import frequent_pieces, pieces, vectors_of
from rerank_plugins.kit.matrix_products import product

STEPS = 4_000  # of training, at least
SMALLEST, LARGEST = 150, 1_500  # words of a batch


@dataclass(frozen=True)
class Schedule:
    """The schedule of training: the learning rate rises to `rate` over the first `warm` steps, then falls to 0.

    `batch` is the number of words of a batch, `decay` that of Adam's second moments, and `average` that of the running
    average of the weights. With probability `lose_form` a word of a batch loses its form, or its vector; with
    probability `lower_case` a sentence is lower-cased.
    """

    epochs: int = 20
    batch: int = LARGEST
    rate: float = 2e-3
    warm: int = 200
    decay: float = 0.99
    dropout: float = 0.33
    lose_form: float = 0.15
    lower_case: float = 0.1
    average: float = 0.998

    @classmethod
    def of_treebank(cls, words: int, epochs: int | None = None) -> Schedule:
        """The schedule for a treebank of so many words: about STEPS steps or more, unless `epochs` says otherwise.

        With batches of 1,500 words, 20 epochs over 10,000 words would be 133 steps, fewer than those of the warm-up.
        So that 20 epochs have STEPS steps, batches are smaller; below SMALLEST words there are more epochs instead.
        """
        batch = min(max(words * cls.epochs // STEPS, SMALLEST), LARGEST)
        return cls(epochs or max(cls.epochs, -(-STEPS * batch // words)), batch)


def train(
    trees: Sequence[DependencyTree],
    vectors: Mapping[str, Float32],
    language: str,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    schedule: Schedule | None = None,
    report: Callable[[int, dict[str, float], BiaffineModel], None] = lambda epoch, losses, model: None,
) -> BiaffineModel:
    """Train a parser on tagged trees; `vectors` are the fixed word vectors (word_vectors.py).

    After each epoch `report` is called with its number, the mean losses per word and the averaged model so far.
    """
    sizes, schedule = sizes or Sizes(), schedule or Schedule()
    table = frequent_pieces(word for tree in trees for word in tree.words)
    tags = sorted({tag for tree in trees for tag in tree.tags})
    relations = sorted({relation for tree in trees for relation in tree.relations})
    stored = np.array(list(vectors.values()), np.float32).reshape(len(vectors), sizes.vector)
    settings = {"sizes": asdict(sizes), "schedule": asdict(schedule), "sentences": len(trees)}
    params = initial(sizes, len(table), len(tags), len(relations), rng)

    def model_of(params: Params) -> BiaffineModel:
        return BiaffineModel(
            params, tuple(table), tuple(vectors), stored, tuple(tags), tuple(relations), language, settings
        )

    model = model_of(params)
    learner = Adam(params, schedule, len(list(_shuffled(trees, schedule, np.random.default_rng(0)))))
    for epoch in range(schedule.epochs):
        totals: dict[str, float] = {}
        words = 0
        for chosen in _shuffled(trees, schedule, rng):
            batch = make_batch(model, [_varied(trees[i], schedule, rng) for i in chosen], rng, schedule.lose_form)
            losses, grads = loss_and_gradient(params, batch, _dropout(sizes, batch, schedule.dropout, rng))
            learner.step(grads, batch.rows)
            words += len(batch.words)
            for name, loss in losses.items():
                totals[name] = totals.get(name, 0.0) + loss * len(batch.words)
        report(epoch, {name: total / words for name, total in totals.items()}, model_of(learner.averaged))
    return model_of(learner.averaged)


class Adam:
    """Adam (Kingma & Ba 2015), which updates arrays in place; in the piece table, only the rows of the batch."""

    def __init__(self, params: Params, schedule: Schedule, steps_an_epoch: int) -> None:
        self.params, self.schedule = params, schedule
        self.steps, self.taken = steps_an_epoch * schedule.epochs, 0
        self.first = {name: np.zeros_like(value) for name, value in params.items()}
        self.second = {name: np.zeros_like(value) for name, value in params.items()}
        self.averaged = {name: value.copy() for name, value in params.items()}

    def step(self, grads: Params, rows: Int64) -> None:
        """Take one step; `grads["pieces"]` has a gradient for each of `rows`; repeated rows are not summed yet."""
        # The learning rate of this step: warm-up, then linear decay.
        self.taken += 1
        left = max(0.0, 1 - (self.taken - 1) / self.steps)
        rate = self.schedule.rate * min(self.taken / self.schedule.warm, left)
        # Sum the gradients of the same row of the piece table.
        order = np.argsort(rows, kind="stable")
        seen, starts = np.unique(rows[order], return_index=True)
        grads = {**grads, "pieces": np.add.reduceat(grads["pieces"][order], starts, axis=0)}
        # Clip the gradient to a norm of 5.
        norm = float(np.sqrt(sum(float((g * g).sum()) for g in grads.values())))
        shrink = min(1.0, 5.0 / max(norm, 1e-9))
        # Update the moments with their bias correction, the weights, and the running average of the weights.
        keep = min(self.schedule.average, self.taken / (self.taken + 10))
        for name, grad in grads.items():
            where = seen if name == "pieces" else slice(None)
            first = 0.9 * self.first[name][where] + np.float32(0.1 * shrink) * grad
            second = self.schedule.decay * self.second[name][where] + np.float32(
                (1 - self.schedule.decay) * shrink * shrink
            ) * (grad * grad)
            self.first[name][where], self.second[name][where] = first, second
            corrected = rate * np.sqrt(1 - self.schedule.decay**self.taken) / (1 - 0.9**self.taken)
            self.params[name][where] -= np.float32(corrected) * first / (np.sqrt(second) + np.float32(1e-8))
            average = self.averaged[name]
            average += np.float32(1 - keep) * (self.params[name] - average)


def make_batch(
    model: BiaffineModel, trees: Sequence[DependencyTree], rng: np.random.Generator, lose_form: float
) -> Batch:
    """The trees, longest first, as arrays; each distinct word loses its form, and its vector, with that probability."""
    packing = Packing.of([len(tree.words) for tree in trees])
    grid, total = packing.grid(), int(packing.starts[-1])
    distinct: dict[str, int] = {}
    words, tags, heads, positions, relations = (np.empty(total, np.int64) for _ in range(5))
    tag_ids = {tag: i for i, tag in enumerate(model.tags)}
    relation_ids = {relation: i for i, relation in enumerate(model.relations)}
    # The gold tags, heads and relations of each row.
    for tree, rows in zip(trees, grid, strict=True):
        rows = rows[: len(tree.words)]
        words[rows] = [distinct.setdefault(word, len(distinct)) for word in tree.words]
        tags[rows] = [tag_ids[tag] for tag in tree.tags]
        relations[rows] = [relation_ids[relation] for relation in tree.relations]
        positions[rows] = np.array(tree.heads) + 1
        heads[rows] = np.append(rows, -1)[list(tree.heads)]
    # The pieces of each distinct word, and its vector.
    lost_form, lost_vector = (rng.random(len(distinct)) < lose_form for _ in range(2))
    pieces_of: list[int] = []
    owners: list[int] = []
    for position, word in enumerate(distinct):
        kept = pieces(word)[1:] if lost_form[position] else pieces(word)
        known = [model.piece_rows[piece] for piece in kept if piece in model.piece_rows]
        pieces_of += known
        owners += [position] * len(known)
    vectors = vectors_of(model, list(distinct)) * ~lost_vector[:, None]
    return Batch(
        packing, words, tags, heads, positions, relations,
        np.array(pieces_of, np.int64), np.array(owners, np.int64), vectors.astype(np.float32),
    )  # fmt: skip


def _varied(tree: DependencyTree, schedule: Schedule, rng: np.random.Generator) -> DependencyTree:
    if rng.random() < schedule.lower_case:
        tree = DependencyTree(tuple(word.lower() for word in tree.words), tree.heads, tree.relations, tree.tags)
    return tree


def _shuffled(trees: Sequence[DependencyTree], schedule: Schedule, rng: np.random.Generator) -> Iterator[list[int]]:
    """Batches of sentences of similar length in random order; within each, the longest come first."""
    order = rng.permutation(len(trees))
    lengths = [len(trees[i].words) for i in order]
    shuffled = [[int(order[i]) for i in batch] for batch in batches(lengths, schedule.batch)]
    for batch in rng.permutation(len(shuffled)):
        yield shuffled[batch]


def _dropout(sizes: Sizes, batch: Batch, rate: float, rng: np.random.Generator) -> Dropout:
    """One mask for each sentence, the same for all its words (Gal & Ghahramani 2016)."""
    packing = batch.packing
    sentence = np.concatenate([np.arange(size) for size in packing.sizes])

    def mask(width: int) -> Float32:
        kept = rng.random((len(packing.lengths), width), np.float32) >= rate
        factors: Float32 = np.asarray(kept / (1 - rate), np.float32)
        return np.take(factors, sentence, axis=0)

    widths = (sizes.piece + sizes.vector, 2 * sizes.lstm, 2 * sizes.lstm, 2 * (sizes.arc + sizes.label))
    return Dropout(*(mask(width) for width in widths))


class Batch(NamedTuple):
    """Packed training sentences: for each row the index of its distinct word, its tag, its head and its relation.

    `heads` are rows (-1: root), `positions` the same heads as positions in the sentence (0: root). The input of the
    distinct word k is the sum of the rows `rows[owners == k]` of the piece table, followed by its vector `vectors[k]`.
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
    """Dropout factors (rows, width) for the inputs of the lower and upper LSTM, for the upper states and the roles."""

    input: Float32
    lower: Float32
    upper: Float32
    roles: Float32


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
    x = np.hstack([embedded, batch.vectors])[batch.words] * drop.input
    lower, upper, memories = encode(x, params, packing, drop.lower)
    top: Float32 = upper * drop.upper
    all_roles, _ = roles(top, params)
    parts = split_roles(all_roles * drop.roles, params)

    # Tags: cross entropy of softmax(T h1), and back to T and h1.
    tag_loss, dtag = cross_entropy(product(lower, params["tag.w"]) + params["tag.b"], batch.tags)
    dtag /= np.float32(words)
    grads["tag.w"], grads["tag.b"] = product(lower.T, dtag), dtag.sum(axis=0)
    dlower = product(dtag, params["tag.w"].T)

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
    projected = product(dependents.reshape(-1, width), params["arc.w"]).reshape(dependents.shape)
    dprojected = product(darcs, heads)
    column = darcs.sum(axis=1)
    dheads = product(darcs.transpose(0, 2, 1), projected) + column[:, :, None] * params["arc.b"]
    flat_gradient = dprojected.reshape(-1, width)
    grads["arc.w"] = product(dependents.reshape(-1, width).T, flat_gradient)
    grads["arc.b"] = np.einsum("bj,bja->a", column, heads)
    grads["root.arc"] = dheads[:, 0].sum(axis=0)
    droles: Float32 = np.zeros_like(all_roles)
    dparts = split_roles(droles, params)  # views: what is written to the parts is written to `droles`
    dparts.dependent[grid.ravel()[flat]] = product(flat_gradient, params["arc.w"].T)[flat]
    dparts.head[grid.ravel()[flat]] = dheads[:, 1:].reshape(-1, width)[flat]

    # Labels: cross entropy of s(r; j -> i) = [q_i; 1]' W_r [p_j; 1] for the right head j; back to W, q and p.
    q, p = label_inputs(parts, params, batch.heads)
    scores, products = label_scores(q, p, params)
    label_loss, dlabels = cross_entropy(scores, batch.relations)
    dlabels /= np.float32(words)
    dp = np.einsum("ir,irw->iw", dlabels, products)[:, :-1]
    dproducts = (dlabels[:, :, None] * p[:, None]).reshape(len(q), -1)
    grads["label.w"] = product(q.T, dproducts)
    dparts.label_dependent[:] = product(dproducts, params["label.w"].T)[:, :-1]
    from_root = batch.heads < 0
    grads["root.label"] = dp[from_root].sum(axis=0)
    np.add.at(dparts.label_head, batch.heads[~from_root], dp[~from_root])

    # Roles: through dropout and ReLU back to M and h2.
    droles *= drop.roles
    droles[all_roles <= 0] = 0
    grads["roles.w"] = product(top.T, droles)
    grads["roles.b"] = droles.sum(axis=0)
    dupper = product(droles, params["roles.w"].T) * drop.upper
    # Both LSTM layers, back to the inputs x; of these, the pieces are learnt.
    dlower += drop.lower * bilstm_gradient(dupper, lower * drop.lower, params, "lstm2", packing, memories[1], grads)
    dx = bilstm_gradient(dlower, x, params, "lstm1", packing, memories[0], grads)
    dx *= drop.input
    dwords = np.zeros_like(embedded)
    np.add.at(dwords, batch.words, dx[:, : embedded.shape[1]])
    grads["pieces"] = dwords[batch.owners]
    return {"tag": tag_loss / words, "arc": arc_loss / words, "label": label_loss / words}, grads
