"""A sentence as the measures see it, and how much its words say.

Function words are those with p(w) > 1/1000 by the unigram model: no list is needed. Information content is -ln p(w).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rerank_plugins.models.similarity.capitals import named_entities
from rerank_plugins.models.vocabulary.unigrams import UnigramModel, read_embedded
from rerank_plugins.trees.penn import normal_form

FREQUENT = 6.9  # -ln p of 1/1000
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
WORD = re.compile(r"\w")


@dataclass(frozen=True)
class Text:
    """A tokenised sentence: `words` in lower case without punctuation, `content` those that are no function words.

    Brackets are in normal form (trees/penn.py). `characters` is the sentence in lower case, tokens apart by one space;
    `numbers` as written; `names` the entities.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    content: tuple[str, ...]
    characters: str
    numbers: frozenset[str]
    names: tuple[str, ...]


class Lexicon:
    """How much words say, by a unigram model; embedded English if none is given."""

    def __init__(self, unigrams: UnigramModel | None = None) -> None:
        self.unigrams = unigrams or UnigramModel(read_embedded(), "ignore")
        self._ln = self.unigrams.ln
        self.information = cache(self._information)

    def _information(self, word: str) -> float:
        """-ln p(w), at least 0."""
        return max(0.0, -self._ln(word))

    def text(self, tokens: Sequence[str], names: tuple[str, ...] | None = None) -> Text:
        """The sentence of these tokens, which may be none; names are found by their capitals where none are given."""
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
