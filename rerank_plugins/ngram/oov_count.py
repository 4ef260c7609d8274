"""Out-of-vocabulary words: o(e) = -#{i : e_i not in V}. Higher (nearer to 0) is better; the empty hypothesis has 0.

V is the vocabulary of a language model, a word list, or that of the embedded English frequencies. The cost is linear in
the text; each distinct word is looked up once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.brackets_and_quotes import spellings
from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.interfaces import Sentence, SentenceFeature, SentenceModel, minus_unknown, option
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.ngram.unigram_model import UnigramLanguageModel


@dataclass(frozen=True)
class OovCountFeature(SentenceFeature, PickledFields):
    """Minus the number of words outside a vocabulary: a language model's, a word list's, or embedded English."""

    lm: SentenceModel | None = option(None, doc="language model whose vocabulary is used")
    words: Path | None = option(None, doc="word list, one word per line, instead of a language model")

    def __post_init__(self) -> None:
        if self.lm is not None and self.words is not None:
            raise ValueError("give 'lm' or 'words', not both")

    @cached_property
    def _vocabulary(self) -> SentenceModel | frozenset[str]:
        if self.words is None:
            return UnigramLanguageModel() if self.lm is None else self.lm
        return read_words(self.words)

    @property
    def vocabulary(self) -> SentenceModel | frozenset[str]:
        """The words that count as known."""
        return self._vocabulary

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 1) minus the number of out-of-vocabulary words."""
        return minus_unknown(sentences, self._vocabulary)[:, None]


def read_words(path: Path) -> frozenset[str]:
    """The words of a list, one per line (the first token of each line), in all the spellings of brackets_and_quotes.py.

    Raises ModelError for an unreadable file.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return frozenset(form for line in lines if line.strip() for form in spellings(line.split()[0]))
