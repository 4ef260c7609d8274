"""Trains the parser on treebanks: Adam with a decaying learning rate, dropout, and dropout of word forms.

Some sentences are lower-cased, as the lists of decoders and recognisers often are. The final weights are a running
average of those of the last steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from rerank_plugins import DependencyTree
from rerank_plugins.dependency.biaffine.gradient import loss_and_gradient
from rerank_plugins.dependency.biaffine.lstm import Float32, Int64, Params
from rerank_plugins.dependency.biaffine.network import Sizes, initial
from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel
from rerank_plugins.dependency.biaffine.pieces import frequent_pieces
from rerank_plugins.dependency.biaffine.training_batches import Batches, Example

STEPS = 4_000  # of training, at least
SMALLEST, LARGEST = 150, 1_500  # words of a batch
Report = Callable[[int, dict[str, float]], None]


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
    treebanks: Sequence[Sequence[DependencyTree]],
    vectors: Mapping[str, Float32],
    language: str,
    rng: np.random.Generator,
    sizes: Sizes | None = None,
    schedule: Schedule | None = None,
    report: Report = lambda epoch, losses: None,
) -> BiaffineModel:
    """Train a parser that annotates as the first of the treebanks does; `vectors` are fixed (word_vectors.py).

    After each epoch, `report` is called with its number and the mean losses per word.
    """
    sizes, schedule = sizes or Sizes(), schedule or Schedule()
    examples = [Example(tree, number) for number, trees in enumerate(treebanks) for tree in trees]
    tags = sorted({tag for example in examples for tag in example.tree.tags})
    relations = sorted({relation for example in examples for relation in example.tree.relations})
    table = frequent_pieces(word for example in examples for word in example.tree.words)
    stored = np.array(list(vectors.values()), np.float32).reshape(len(vectors), sizes.vector)
    settings = {"sizes": asdict(sizes), "schedule": asdict(schedule), "sentences": len(examples)}
    params = initial(sizes, len(table), len(tags), len(relations), rng)
    model = BiaffineModel(
        params, tuple(table), tuple(vectors), stored, tuple(tags), tuple(relations), language, settings
    )
    maker = Batches(model, schedule.lose_form, schedule.lower_case, rng)
    started = {**params, "treebanks": np.zeros((len(treebanks), sizes.piece), np.float32)}
    learnt = _learn(started, maker, examples, sizes, schedule, report)
    return replace(model, params={name: learnt[name] for name in params})


def _learn(
    params: Params,
    maker: Batches,
    examples: Sequence[Example],
    sizes: Sizes,
    schedule: Schedule,
    report: Report,
) -> Params:
    """The average of the weights over the last steps of the schedule; `params` are overwritten."""
    learner = Adam(params, schedule, maker.number(examples, schedule.batch))
    for epoch in range(schedule.epochs):
        totals: dict[str, float] = {}
        words = 0
        for chosen in maker.shuffled(examples, schedule.batch):
            batch = maker.batch(chosen)
            dropout = maker.dropout(sizes, batch.packing, schedule.dropout)
            losses, grads = loss_and_gradient(params, batch, dropout)
            learner.step(grads, batch.rows)
            words += len(batch.words)
            for name, loss in losses.items():
                totals[name] = totals.get(name, 0.0) + loss * len(batch.words)
        report(epoch, {name: total / words for name, total in totals.items()})
    return learner.averaged


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
