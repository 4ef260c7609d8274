"""Static interpolation of language models: p(w | h) = Σ_i λ_i p_i(w | h), with weights from held-out text.

The weights are fitted by EM (Jelinek and Mercer 1980): λ_i becomes the mean over the words of the held-out text of the
posterior λ_i p_i / Σ_j λ_j p_j. The log-likelihood, which is concave in λ, never falls, so EM reaches the best
weights from any positive ones. Weights that depend on the context are not implemented. The models are mixed as they
are: a word that is unknown to one of them has one type's share of that model's class of unknown words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rerank_plugins import FloatArray, LanguageModel, Parser, Sentence, option
from rerank_plugins.kit.language_models import advance_all, finish_all, with_unigrams


@dataclass(frozen=True)
class MixtureLanguageModel(LanguageModel):
    """Weighted mean of the probabilities of several language models (static interpolation).

    Natural logs. It is also an `IncrementalLM` if all its models are; its state is the tuple of their states. Many
    steps are taken in one call for each model (`BatchedLM`).
    """

    models: tuple[LanguageModel, ...] = option(doc="language models of the config, by name")
    weights: tuple[float, ...] = option(doc="their weights, which sum to 1; `rerank lm mix` fits them")

    def __post_init__(self) -> None:
        if len(self.models) != len(self.weights) or not self.models:
            raise ValueError(f"{len(self.weights)} weights for {len(self.models)} models, wanted one for each")
        if min(self.weights) < 0 or abs(sum(self.weights) - 1) > 1e-3:
            raise ValueError(f"weights are {list(self.weights)}, wanted none below 0 and a sum of 1")

    def __contains__(self, word: str) -> bool:
        return any(word in model for model in self.models)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last."""
        return self._mixed([model.score(sentences) for model in self.models])

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parsers of all models."""
        return tuple(parser for model in self.models for parser in model.parsers)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by the models' own unigrams, mixed with the models' weights.

        Raises ModelError where a model has no unigrams.
        """
        return self._mixed([with_unigrams(model).unigram_scores(sentences) for model in self.models])

    def _mixed(self, scores: Sequence[Sequence[FloatArray]]) -> list[FloatArray]:
        """For each sentence, ln p of its words by the mixture, from their ln p by each model."""
        weights = np.array(self.weights)
        return [mixed(np.stack(values, axis=1), weights) for values in zip(*scores, strict=True)]

    def start(self) -> tuple[Any, ...]:
        """The models' states before the first word."""
        return tuple(model.start() for model in self._steps)

    def advance(self, state: tuple[Any, ...], word: str) -> tuple[float, tuple[Any, ...]]:
        """Ln p(word | state), and the models' states after it."""
        ln_p, after = self.advance_all([state], [word])
        return float(ln_p[0]), after[0]

    def finish(self, state: tuple[Any, ...]) -> float:
        """Ln p(</s> | state)."""
        return float(self.finish_all([state])[0])

    def advance_all(
        self, states: Sequence[tuple[Any, ...]], words: Sequence[str]
    ) -> tuple[FloatArray, list[tuple[Any, ...]]]:
        """(n) states and their next words -> (n) ln p(word | state), and the (n) states after them."""
        columns = zip(*states, strict=True) if states else [()] * len(self.models)
        steps = [advance_all(model, column, words) for model, column in zip(self._steps, columns, strict=True)]
        ln_p = np.stack([values for values, _ in steps], axis=1)
        return mixed(ln_p, np.array(self.weights)), list(zip(*(after for _, after in steps), strict=True))

    def finish_all(self, states: Sequence[tuple[Any, ...]]) -> FloatArray:
        """(n) states -> (n) ln p(</s> | state)."""
        columns = zip(*states, strict=True) if states else [()] * len(self.models)
        ends = [finish_all(model, column) for model, column in zip(self._steps, columns, strict=True)]
        return mixed(np.stack(ends, axis=1), np.array(self.weights))

    @property
    def _steps(self) -> tuple[Any, ...]:
        """The models, typed as incremental ones."""
        return self.models


def mixed(ln_p: FloatArray, weights: FloatArray) -> FloatArray:
    """(n) ln of the weighted mean of p, from (n, models) ln p by each model and (models) weights."""
    used = weights > 0
    return np.asarray(np.logaddexp.reduce(ln_p[:, used] + np.log(weights[used]), axis=1), np.float64)


def fit_weights(
    ln_p: FloatArray,
    *,
    tolerance: float = 1e-10,
    most: int = 1000,
    report: Callable[[FloatArray, float], None] = lambda weights, mean: None,
) -> FloatArray:
    """(models) weights that maximise the likelihood of held-out words, from their (n, models) ln p by each model.

    EM starts from equal weights and stops when the mean ln p rises by less than `tolerance`, or after `most`
    iterations. `report` is called with the weights and the mean ln p at each iteration.
    """
    models = ln_p.shape[1]
    weights = np.full(models, 1 / models)
    if len(ln_p) == 0:
        return weights
    best = ln_p.max(axis=1, keepdims=True)
    p = np.exp(ln_p - best)
    previous_mean = -np.inf
    for _ in range(most):
        joint = p * weights  # λ_i p_i
        sums = joint.sum(axis=1, keepdims=True)
        mean = float((np.log(sums) + best).mean())
        report(weights, mean)
        if mean - previous_mean < tolerance:
            break
        weights, previous_mean = (joint / sums).mean(axis=0), mean
    best_weights: FloatArray = weights / weights.sum()
    return best_weights
