"""Training of joint models: stochastic gradient descent over the target words of sentence pairs, in random order.

All steps fall linearly to 0 at the end of the last pass. A part of the pairs is held out, to measure how well the
network predicts. The cost of a word is proportional to H (K D + outputs of a batch) multiplications.

The sum over all output words is estimated from a part C of them: the predicted words of the batch and some drawn from
the distribution q. Output e is in C with the probability pi_e = 1 - (1 - q_e)^draws (1 - p_e)^batch, p the distribution
of predicted words, so that the sum of exp(s_e) / pi_e over C, in which the right word itself counts once, has no bias
(importance sampling; Bengio and Senécal 2003). The embedding and the output weights of a word have a rate of their own,
which falls with the squares of the row's gradients (Adagrad: Duchi et al. 2011); the hidden layer has the steps of Adam
(Kingma and Ba 2015).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, LongArray, ModelError
from rerank_plugins.kit.elementary_functions import expm1, log, log1p
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.matrix_products import product
from rerank_plugins.kit.vocabulary.unknown_types import types_of_unknown
from rerank_plugins.translation.joint_model import Contexts, JointModel, Numbering, Weights, affiliations
from rerank_plugins.translation.words import frequent_words, split_words

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel

FIRST = 1e-6  # the sum of squares of a row before its first gradient
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # of Adam (Kingma and Ba 2015)


@dataclass(frozen=True, eq=False)
class Sampling:
    """The distributions q (outputs), from which outputs are drawn, and p (outputs) of predicted words."""

    drawn: FloatArray
    predicted: FloatArray
    draws: int

    @cached_property
    def _cumulative(self) -> FloatArray:
        return np.cumsum(self.drawn)

    def draw(self, outputs: IntArray, generator: Generator) -> tuple[LongArray, Weights]:
        """The outputs C of a batch, ascending, and their (C) ln pi."""
        noise = np.searchsorted(self._cumulative, generator.random(self.draws)).clip(0, len(self.drawn) - 1)
        chosen = np.unique(np.concatenate([outputs, noise]))
        absent = self.draws * log1p(-self.drawn[chosen]) + len(outputs) * log1p(-self.predicted[chosen])
        return chosen, log(-expm1(absent)).astype(np.float32)


class Gradient(NamedTuple):
    """The estimated loss -ln p of a batch, in nats, and its gradients.

    `inputs` is (batch, K, D), `output` (C, H) and `output_bias` (C) are those of the outputs C.
    """

    loss: float
    inputs: Weights
    hidden: Weights
    hidden_bias: Weights
    output: Weights
    output_bias: Weights


def gradient(
    model: JointModel, symbols: IntArray, outputs: IntArray, chosen: LongArray, ln_pi: Weights, kept: Weights
) -> Gradient:
    """The gradient of the batch of contexts `symbols` (batch, K) and predicted words `outputs` (batch).

    `chosen` are the outputs C with their `ln_pi`. `kept` (batch, H) multiplies the hidden layer: 0 for units that are
    dropped out, and 1 / (1 - their proportion) for the others.
    """
    inputs, hidden = model.activations(symbols)
    hidden *= kept
    rows, right = np.arange(len(symbols)), np.searchsorted(chosen, outputs)
    weights = model.output[chosen]
    scores = product(hidden, weights.T)
    scores += model.output_bias[chosen]
    scores -= ln_pi
    scores[rows, right] += ln_pi[right]
    scores -= scores.max(axis=1, keepdims=True)
    p = np.exp(scores, out=scores)
    p /= p.sum(axis=1, keepdims=True)
    loss = -float(np.log(np.maximum(p[rows, right], 1e-30)).sum(dtype=np.float64))
    p[rows, right] -= 1
    of_hidden = product(p, weights) * kept
    of_hidden *= hidden > 0
    of_inputs = product(of_hidden, model.hidden.T).reshape(*symbols.shape, -1)
    of_weights = product(inputs.T, of_hidden), of_hidden.sum(axis=0), product(p.T, hidden), p.sum(axis=0)
    return Gradient(loss, of_inputs, *of_weights)


@filling_kernel
def move_rows(
    symbols: IntArray, slopes: NDArray[np.float32], step: Any, squares: NDArray[np.float32], rows: NDArray[np.float32]
) -> None:
    """Move `rows` (words, D) against `slopes` (batch, K, D) of `symbols` (batch, K), with one rate for each row.

    `squares` (words) are the sums of the mean squares of each row's gradients so far; the rate is step / sqrt(square).
    """
    batch, places, size = slopes.shape
    for b in range(batch):
        for k in range(places):
            row = symbols[b, k]
            square = np.float32(0)
            for d in range(size):
                square += slopes[b, k, d] * slopes[b, k, d]
            squares[row] += square / np.float32(size)
            rate = step / np.sqrt(squares[row])
            for d in range(size):
                rows[row, d] -= rate * slopes[b, k, d]


@dataclass
class Optimiser:
    """Moves a model against gradients.

    `squares` has the sums of the mean squared gradients of embeddings and of outputs, `moments` the means and mean
    squares of the gradients of the hidden layer.
    """

    model: JointModel
    squares: tuple[Weights, Weights] = field(init=False)
    moments: dict[str, tuple[Weights, Weights]] = field(init=False)
    batches: int = 0

    def __post_init__(self) -> None:
        size = len(self.model.embeddings), len(self.model.output)
        self.squares = np.full(size[0], FIRST, np.float32), np.full(size[1], FIRST, np.float32)
        self.moments = {
            name: (np.zeros_like(weights), np.zeros_like(weights))
            for name, weights in (("hidden", self.model.hidden), ("hidden_bias", self.model.hidden_bias))
        }

    def move(self, symbols: IntArray, chosen: LongArray, change: Gradient, word_step: float, step: float) -> None:
        """A step against the gradient of a batch (batch, K) of `symbols`, with the sampled outputs `chosen` (C)."""
        model, (inputs, outputs) = self.model, self.squares
        move_rows(symbols, change.inputs, np.float32(word_step), inputs, model.embeddings)
        rows = change.output.shape[1] + 1
        outputs[chosen] += ((change.output**2).sum(axis=1) + change.output_bias**2) / rows
        rate = word_step / np.sqrt(outputs[chosen])
        model.output[chosen] -= rate[:, None] * change.output
        model.output_bias[chosen] -= rate * change.output_bias
        self.batches += 1
        scale = step * np.sqrt(1 - BETA_2**self.batches) / (1 - BETA_1**self.batches)
        for name, (mean, square) in self.moments.items():
            slope = getattr(change, name)
            mean += np.float32(1 - BETA_1) * (slope - mean)
            square += np.float32(1 - BETA_2) * (slope**2 - square)
            weights = getattr(model, name)
            weights -= np.float32(scale) * mean / (np.sqrt(square) + np.float32(EPSILON))


@dataclass(frozen=True)
class Settings:
    """The settings of training: the options of `rerank train joint-lm`, and others.

    The first steps are `word_step` of embeddings and outputs and `step` of the hidden layer; `draws` outputs are drawn
    for each batch. Up to `held_out` pairs, at most one of 20, are not learnt from.
    """

    window: int = 5
    history: int = 4
    source_count: int = 2
    target_count: int = 2
    embedding: int = 96
    hidden: int = 256
    epochs: int = 6
    batch: int = 512
    word_step: float = 0.03
    step: float = 0.001
    draws: int = 500
    dropout: float = 0.2
    held_out: int = 2000
    lowercase: bool = True
    seed: int = 1


class Epoch(NamedTuple):
    """A pass over the words: its number, and perplexities per word, `</s>` included, of training and held-out words.

    That of training words is an estimate, from sampled outputs while the network learnt.
    """

    number: int
    training: float
    held_out: float


def train(
    pairs: Iterable[tuple[str, str]],
    alignment: WordAlignmentModel,
    settings: Settings,
    *,
    report: Callable[[Epoch], None] = lambda epoch: None,
    progress: Callable[[str], None] = lambda stage: None,
) -> JointModel:
    """The model of tokenised sentence pairs (source, target); pairs with an empty side are left out.

    By `alignment`, each target word belongs to a source word. `report` is called after each epoch, and `progress`
    with the name of each stage. The model depends neither on the number of cores nor on the processor. Raises
    ModelError where fewer than two pairs are left.
    """
    progress("reading")
    sentences = [(f, e) for f, e in pairs if f.split() and e.split()]
    if len(sentences) < 2:
        raise ModelError(f"{len(sentences)} sentence pairs with words on both sides, expected 2 or more to learn from")
    generator = np.random.default_rng(settings.seed)
    numbering = Numbering(
        frequent_words((split_words(f, settings.lowercase) for f, _ in sentences), settings.source_count),
        frequent_words((split_words(e, False) for _, e in sentences), settings.target_count),
        settings.window, settings.history, settings.lowercase,
    )  # fmt: skip
    order = generator.permutation(len(sentences)).tolist()
    number_held_out = max(min(settings.held_out, len(order) // 20), 1)
    progress("aligning words")
    parts = [
        numbering.contexts((f, [e], affiliations(alignment, f, [e])) for f, e in (sentences[i] for i in chosen))
        for chosen in (order[:number_held_out], order[number_held_out:])
    ]
    held_out, learnt = parts
    model = _first_model(numbering, learnt, settings, generator)
    targets = Counter(word for _, e in sentences for word in split_words(e, False))
    kept = np.array([count >= settings.target_count for count in targets.values()], np.bool_)
    types = types_of_unknown(np.array([*targets.values()], np.int64), kept)
    record = {**asdict(settings), "pairs": len(sentences), "words": len(learnt)}
    model = replace(model, settings=record, unknown_types=types)
    for epoch in _epochs(model, learnt, held_out, settings, generator, progress):
        report(epoch)
    return model


def _epochs(
    model: JointModel, learnt: Contexts, held_out: Contexts, settings: Settings, generator: Generator,
    progress: Callable[[str], None],
) -> Iterable[Epoch]:  # fmt: skip
    counts = np.bincount(learnt.outputs, minlength=model.numbering.outputs).astype(np.float64)
    predicted, drawn = (np.minimum(c / c.sum(), 1 - 1e-9) for c in (counts, np.sqrt(counts * np.sqrt(counts))))
    sampling, optimiser = Sampling(drawn, predicted, settings.draws), Optimiser(model)
    for number in range(settings.epochs):
        order, loss = generator.permutation(len(learnt)), 0.0
        for start in range(0, len(order), settings.batch):
            if start % (64 * settings.batch) == 0:
                progress(f"epoch {number + 1} of {settings.epochs}, {start / len(order):.0%}")
            batch = order[start : start + settings.batch]
            symbols, outputs = learnt.symbols(batch), learnt.outputs[batch]
            chosen, ln_pi = sampling.draw(outputs, generator)
            shape = len(batch), settings.hidden
            kept = (generator.random(shape, np.float32) >= settings.dropout).astype(np.float32)
            kept /= np.float32(1 - settings.dropout)
            scale = 1 - (number + start / len(order)) / settings.epochs
            change = gradient(model, symbols, outputs, chosen, ln_pi, kept)
            optimiser.move(symbols, chosen, change, settings.word_step * scale, settings.step * scale)
            loss += change.loss
        yield Epoch(number + 1, float(np.exp(loss / len(order))), float(np.exp(-model.ln_p(held_out).mean())))


def _first_model(numbering: Numbering, learnt: Contexts, settings: Settings, generator: Generator) -> JointModel:
    """Small random weights; the outputs begin with the frequencies of words."""
    inputs = (2 * settings.window + 1 + settings.history) * settings.embedding
    counts = np.bincount(learnt.outputs, minlength=numbering.outputs)

    def random(rows: int, columns: int, deviation: float) -> Weights:
        return generator.standard_normal((rows, columns), np.float32) * np.float32(deviation)

    return JointModel(
        numbering,
        random(numbering.symbols, settings.embedding, 0.1),
        random(inputs, settings.hidden, inputs**-0.5),
        np.zeros(settings.hidden, np.float32),
        random(numbering.outputs, settings.hidden, 0.05),
        log((counts + 0.1) / (counts + 0.1).sum()).astype(np.float32),
    )
