"""Training of the network: stochastic gradient descent over the target words of sentence pairs, in random order.

All steps fall linearly to 0 at the end of the last pass. A part of the pairs is held out, to measure how well the
network predicts. The cost of a word is proportional to H (K D + outputs of a batch) multiplications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from rerank_plugins import ModelError
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.translation.joint_model.gradient_steps import Optimiser, Sampling, gradient
from rerank_plugins.translation.joint_model.model import Contexts, JointModel, Numbering, Weights, affiliations
from rerank_plugins.translation.words import frequent_words, split_words

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel


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

    `alignment` says which source word each target word belongs to. `report` is called after each epoch, and `progress`
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
    model = replace(model, settings={**asdict(settings), "pairs": len(sentences), "words": len(learnt)})
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
