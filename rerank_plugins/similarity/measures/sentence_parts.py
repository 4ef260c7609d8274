"""The parts of a sentence that the measures compare, and the information content of its words, -ln p(w).

Words with p(w) > 1/1000 under the unigram model count as function words, so no list of them is needed. Named entities
are recognised by their capital letters alone: a longest run of tokens that begin with a capital letter. The first word
of a sentence on its own is not an entity. Words such as `of`, `the` and `and` may stand inside a run (Bank of England).
A sentence in which every word has a capital, as in some headlines, or none has, contains no entities.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rerank_plugins import normal_form
from rerank_plugins.kit.vocabulary.unigrams import UnigramModel, embedded_unigrams

FREQUENT = 6.9  # -ln p of 1/1000
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
WORD = re.compile(r"\w")


INSIDE = {"of", "the", "and", "de", "la", "von", "van", "for", "'s", "&"}


def named_entities(tokens: Sequence[str]) -> tuple[str, ...]:
    """The entities of a tokenised sentence in lower case, in the order of the sentence, each listed once."""
    words = [token for token in tokens if token[:1].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    if not words or capitals == 0 or (capitals == len(words) and len(words) > 3):
        return ()
    entities: list[str] = []
    run: list[int] = []  # positions of the tokens in the current run
    for i, token in enumerate([*tokens, ""]):
        if token[:1].isupper() or (run and token.lower() in INSIDE and i + 1 < len(tokens)):
            run.append(i)
            continue
        while run and not tokens[run[-1]][0].isupper():
            run.pop()
        if run and run != [0]:
            entities.append(" ".join(tokens[j] for j in run).lower())
        run = []
    return tuple(dict.fromkeys(entities))


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

    def text(self, tokens: Sequence[str]) -> Text:
        """Build the Text of a possibly empty sentence."""
        tokens = tuple(map(normal_form, tokens))
        words = tuple(token.lower() for token in tokens if WORD.search(token))
        return Text(
            tokens,
            words,
            tuple(word for word in words if self.information(word) > FREQUENT),
            " ".join(tokens).lower(),
            frozenset(number for token in tokens for number in NUMBER.findall(token)),
            named_entities(tokens),
        )
