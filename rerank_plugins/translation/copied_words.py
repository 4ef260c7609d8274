"""Words of the source f that hypothesis e has too, and untranslated ones among them.

`lexical-overlap`: m = sum_w min(#_w(e), #_w(f)); hypothesis = m / |e|, source = m / |f|; 0 where a side is empty. For
tasks within one language (simplification, correction, speech) overlap is desirable; for translation a tuner makes the
weight negative.

`untranslated`: u(e) = -sum_w min(#_w(e), #_w(f)), over the source words w that should be translated. Numbers and
punctuation (tokens without a letter) are the same in many languages and do not count. Names, recognised by a capital
letter, can be excluded (but not for German sources, whose nouns all have one), and so can words of the target
language, by the vocabulary of a language model. Higher (nearer to 0) is better.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from rerank_plugins import FeatureExtractor, FloatArray, NBestList, SentenceModel, option
from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.nbest_lists import source_of
from rerank_plugins.translation.words import split_words


@dataclass(frozen=True)
class UntranslatedFeature(FeatureExtractor):
    """Minus the number of source words copied to the hypothesis, not counting numbers and punctuation."""

    ignore_case: bool = option(True, doc="compare tokens in lower case")
    names: bool = option(True, doc="also count words that have a capital letter in the source")
    lm: SentenceModel | None = option(None, doc="target language model: words of its vocabulary do not count")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) minus the number of copied words. Raises ConfigError for a list without a source."""
        values = np.zeros((len(nbest), 1))
        if not len(nbest):
            return values
        source = normal_text(source_of(nbest, "untranslated"))
        counted = " ".join(filter(self._counts, model_words(source)))
        copied = Counter(split_words(counted, self.ignore_case))
        for row, text in enumerate(nbest.texts):
            words = split_words(text, self.ignore_case)
            if not copied.keys().isdisjoint(words):
                values[row] = 0.0 - sum(min(words.count(word), count) for word, count in copied.items())
        return values

    def _counts(self, word: str) -> bool:
        if not any(map(str.isalpha, word)) or not (self.names or word == word.lower()):
            return False
        return self.lm is None or not (word in self.lm or word.lower() in self.lm)


@dataclass(frozen=True)
class LexicalOverlapFeature(FeatureExtractor):
    """Proportions of the hypothesis's and of the source's tokens that the other side has too."""

    ignore_case: bool = option(True, doc="compare tokens in lower case")

    components = ("hypothesis", "source")

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) proportions from 0 to 1. Raises ConfigError for a list without a source."""
        values = np.zeros((len(nbest), 2))
        if not len(nbest):
            return values
        source = Counter(split_words(source_of(nbest, "lexical-overlap"), self.ignore_case))
        size = source.total()
        for row, text in enumerate(nbest.texts):
            words = split_words(text, self.ignore_case)
            if words and size:
                matches = sum(min(words.count(word), source[word]) for word in source.keys() & words)
                values[row] = matches / len(words), matches / size
        return values
