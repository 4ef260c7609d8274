"""A discriminative word lexicon (Mauser, Hasan and Ney 2009, section 3).

For each target word e there is a logistic regression on the set of source words F,

    p(e in E | F) = 1 / (1 + exp(-z_e)),    z_e = b_e + sum over f in F of w_fe,

so that all words of the source decide about a word together, wherever they stand: of `bank`, about the senses of its
translation. Weights close to 0 are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.files.declared import Array, Offsets, Setting, WordList


@dataclass(frozen=True, eq=False)
class WordLexicon(PickledFields):
    """The weights of source word f are `weights[starts[f]:starts[f + 1]]`, those of the target words `targets[…]`.

    `bias` (T) has the log odds of each target word where no source word is known.
    """

    source_words: Annotated[tuple[str, ...], WordList("F", name="source.words")]
    target_words: Annotated[tuple[str, ...], WordList("T", name="target.words")]
    bias: Annotated[NDArray[np.float32], Array("T")]
    starts: Annotated[LongArray, Offsets("F", "W")]
    targets: Annotated[IntArray, Array("W")]
    weights: Annotated[NDArray[np.float32], Array("W")]
    settings: Annotated[Mapping[str, Any], Setting("training", versioned=True)] = field(default_factory=dict)

    @cached_property
    def _source_number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.source_words)}

    @cached_property
    def _target_number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.target_words)}

    def log_odds(self, source: str) -> FloatArray:
        """(T): the log odds of each target word, given a tokenised source sentence."""
        odds = self.bias.astype(np.float64)
        known = {self._source_number.get(word, -1) for word in source_words(source, bool(self.settings["lowercase"]))}
        for f in sorted(known - {-1}):
            part = slice(self.starts[f], self.starts[f + 1])
            odds[self.targets[part]] += self.weights[part]
        return odds

    def words_of(self, texts: Iterable[str]) -> tuple[LongArray, LongArray]:
        """The distinct known target words of each tokenised text: (n) rows of texts and (n) numbers of words."""
        rows, words = [], []
        for row, text in enumerate(texts):
            distinct = dict.fromkeys(target_words(text))
            numbers = [self._target_number[word] for word in distinct if word in self._target_number]
            rows += [row] * len(numbers)
            words += numbers
        return np.array(rows, np.int64), np.array(words, np.int64)


def source_words(text: str, lowercase: bool) -> list[str]:
    """The words of a tokenised source sentence, in the form in which the lexicon has them."""
    text = normal_text(text)
    return (text.lower() if lowercase else text).split()


def target_words(text: str) -> list[str]:
    """The words of a tokenised target sentence, whose case is kept."""
    return normal_text(text).split()


def ln_probability(log_odds: FloatArray) -> FloatArray:
    """The (n) ln p of events with these (n) log odds."""
    return np.minimum(log_odds, 0.0) - np.log1p(np.exp(-np.abs(log_odds)))
