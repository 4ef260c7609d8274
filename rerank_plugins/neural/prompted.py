"""What all models of given text have in common: the text around a hypothesis, and the scores of its words.

The text that is scored is the prompt, the hypothesis and its end, and the value is ln p(hypothesis and end | prompt).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from rerank_plugins import ConfigError, FloatArray, LanguageModel, ModelError, NBestList, PickledFields
from rerank_plugins.neural.given_text import GivenText
from rerank_plugins.neural.pieces import of_distinct, owners_of, word_sums

SOURCE = "{source}"
PROMPT = "text before the hypothesis; {source} stands for the source sentence, and \\n for the end of a line"
END = "text after the hypothesis, whose ln p is that of `</s>`; without it, that is 0"


class PromptedLanguageModel(PickledFields, LanguageModel):
    """A language model of hypotheses after a `prompt` and before an `end`, which are options of the derived class."""

    prompt: str
    end: str

    @property
    @abstractmethod
    def where(self) -> str:
        """The server or the file, for messages."""

    @abstractmethod
    def given(self, texts: Sequence[str]) -> list[GivenText]:
        """The tokens of texts with their ln p."""

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, and `per_word`, which is total / (|e| + 1)."""
        return ("total", "per_word")

    def __contains__(self, word: str) -> bool:
        """Every word is known: the pieces of the vocabulary spell any text."""
        return True

    @property
    def vocabulary(self) -> None:
        """None: there are no unknown words."""
        return

    def score(self, sentences: Sequence[Sequence[str]]) -> list[FloatArray]:
        """Ln p of each word, and of the end last. Raises ConfigError for a prompt with a source, ModelError."""
        if SOURCE in self.prompt:
            raise ConfigError(f"the prompt has {SOURCE}: only hypotheses of lists with sources have a score")
        return self._scores([("", tuple(words)) for words in sentences])

    def values(self, sentences: Sequence[Sequence[str]]) -> FloatArray:
        """(n, 2) natural logs, and natural logs per word and end."""
        return _values(self.score(sentences))

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 2) natural logs. Raises ConfigError for a list without the source that the prompt wants, ModelError."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """(n, 2) natural logs of each list; all are scored together."""
        values = _values(self._scores([pair for nbest in nbests for pair in self._pairs(nbest)]))
        return np.split(values, np.cumsum([len(nbest) for nbest in nbests])[:-1]) if nbests else []

    def word_scores(self, nbest: NBestList) -> list[FloatArray]:
        """Ln p of the words of each hypothesis, and of its end."""
        return self._scores(self._pairs(nbest))

    def _pairs(self, nbest: NBestList) -> list[tuple[str, tuple[str, ...]]]:
        if SOURCE in self.prompt and len(nbest) and nbest.source is None:
            raise ConfigError(f"{self.where}: segment {nbest.segment_id} has no source sentence: name a source file")
        source = " ".join((nbest.source or "").split()) if SOURCE in self.prompt else ""
        return [(source, tuple(text.split())) for text in nbest.texts]

    def _scores(self, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> list[FloatArray]:
        """Ln p of the words and the end of each pair of a source and a hypothesis."""
        return of_distinct(pairs, self._distinct)

    def _distinct(self, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> list[FloatArray]:
        if not pairs:
            return []
        prompt, end = (text.replace("\\n", "\n") for text in (self.prompt, self.end))
        prompts = [prompt.replace(SOURCE, source) for source, _ in pairs]
        texts = [before + " ".join(words) + end for before, (_, words) in zip(prompts, pairs, strict=True)]
        given = self.given(texts)
        return [
            self._of_words(found, words, len(before))
            for found, (_, words), before in zip(given, pairs, prompts, strict=True)
        ]

    def _of_words(self, found: GivenText, words: Sequence[str], start: int) -> FloatArray:
        """(words + 1) the sums over the tokens that end in each word, whose first one begins at `start`."""
        owners = owners_of(words)
        places, scores = list[int](), list[float]()
        for end, value in zip(found.ends, found.ln_p, strict=True):
            if end > start:
                if math.isnan(value):
                    raise ModelError(f"{self.where}: there is no ln p for some tokens of a text: set 'prompt'")
                last = end - start - 1  # character
                places.append(owners[last] if last < len(owners) else len(words))
                scores.append(value)
        return word_sums(np.array(scores, np.float64), places, len(words))


def _values(scores: Sequence[FloatArray]) -> FloatArray:
    totals = np.array([values.sum() for values in scores], np.float64)
    return np.column_stack([totals, totals / np.array([len(values) for values in scores], np.float64)])
