"""Words and headwords given concepts: P(word | lci) at preterminals, and P_H(headword | lci) everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rerank_plugins.constituency.lexicon import NumberedWords
from rerank_plugins.core.arrays import FloatArray, IntArray

UNK_HEADWORD = "unk"  # stands for all headwords that the model does not keep


@dataclass(frozen=True, eq=False)
class VectorLexicon(NumberedWords):
    """The closed vocabulary; each word has the preterminals that emit it, each with a vector over concepts.

    `words`    (W) sorted; signatures of unknown words and `UNK` are among them
    `starts`   (W + 1) int32: the emissions of word w are entries starts[w] to starts[w + 1] of the next two
    `symbols`  (E) int32 preterminals of the model, ascending within a word
    `p`        (E, K) P(word | preterminal, concept); over the words of one preterminal they sum to one for each concept
    """

    words: tuple[str, ...]
    starts: IntArray
    symbols: IntArray
    p: FloatArray

    def emissions(self, word: str, position: int) -> tuple[IntArray, FloatArray]:
        """(n) the preterminals that emit the word, and (n, K) P(word | preterminal, concept)."""
        entry = self.number(word, position)
        span = slice(self.starts[entry], self.starts[entry + 1])
        return self.symbols[span], self.p[span]


@dataclass(frozen=True, eq=False)
class HeadTable:
    """P_H(headword | lci): the headwords of each concept in a syntactic state.

    `headwords`  (H) names, the last is `unk`
    `starts`     (S + 1) int32: the headwords of symbol s are entries starts[s] to starts[s + 1] of the next two
    `heads`      (N) int32 index into headwords, ascending within a symbol
    `p`          (N, K) P_H; over the headwords of one symbol they sum to one for each concept
    """

    headwords: tuple[str, ...]
    starts: IntArray
    heads: IntArray
    p: FloatArray

    def of(self, symbol: int) -> tuple[Sequence[str], FloatArray]:
        """The headwords seen with a symbol, and (n, K) P_H(headword | symbol, concept)."""
        span = slice(self.starts[symbol], self.starts[symbol + 1])
        return [self.headwords[head] for head in self.heads[span]], self.p[span]
