"""The parts of a sentence that the measures compare, and the information content of its words, -ln p(w).

Words with p(w) > 1/1000 under the unigram model count as function words, so no list of them is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rerank_plugins.core.brackets_and_quotes import normal_form
from rerank_plugins.kit.vocabulary.unigrams import UnigramModel, embedded_unigrams
from rerank_plugins.similarity.measures.capitals import named_entities

FREQUENT = 6.9  # -ln p of 1/1000
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Text:
    """A tokenised sentence: `words` are in lower case without punctuation, `content` leaves function words out.

    Brackets are in normal form (core/brackets_and_quotes.py). `characters` is the sentence in lower case with one space
    between tokens, `numbers` are as written, and `names` are the named entities.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    content: tuple[str, ...]
    characters: str
    numbers: frozenset[str]
    names: tuple[str, ...]


class Lexicon:
    """The information content of words under a unigram model, by default the embedded English one."""

    def __init__(self, unigrams: UnigramModel | None = None) -> None:
        self.unigrams = unigrams or embedded_unigrams("ignore")
        self._ln = self.unigrams.ln
        self.information = cache(self._information)

    def _information(self, word: str) -> float:
        """-ln p(w), clipped to 0 or more."""
        return max(0.0, -self._ln(word))

    def text(self, tokens: Sequence[str], names: tuple[str, ...] | None = None) -> Text:
        """Build the Text of a possibly empty sentence; entities are recognised by capitals if `names` is None."""
        tokens = tuple(map(normal_form, tokens))
        words = tuple(token.lower() for token in tokens if WORD.search(token))
        return Text(
            tokens,
            words,
            tuple(word for word in words if self.information(word) > FREQUENT),
            " ".join(tokens).lower(),
            frozenset(number for token in tokens for number in NUMBER.findall(token)),
            named_entities(tokens) if names is None else names,
        )
