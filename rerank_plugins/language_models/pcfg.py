"""A grammar as a language model: words by exact prefix probabilities, sentences by inside probabilities.

ln p(w_j | w_1 … w_{j-1}) = ln P(w_1 … w_j …) − ln P(w_1 … w_{j-1} …), and `</s>` has what is left to ln p(w_1 … w_n):
that the sentence ends here. Nothing is pruned. Of a latent grammar this is the PCFG-LA of Pauls & Klein (2012). Unknown
words have the probability of their signature; multiply by p(word | signature) to compare with open vocabularies.

Hypotheses of a list share the charts' cells over words that they have in the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerank_plugins.arrays import FloatArray, IntArray
from rerank_plugins.interfaces import LanguageModel, Sentence, option
from rerank_plugins.models.pcfg.embedded import read_or_embedded
from rerank_plugins.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.models.pcfg.grammar import Grammar
    from rerank_plugins.models.pcfg.inside import Chart
    from rerank_plugins.models.pcfg.prefix import PrefixChart

State = tuple[int, ...]  # the words so far, as numbers of the lexicon

LONGEST = 200  # words; a longer sentence is scored as several that begin and do not end
FLOOR = -30.0  # ln p of a word that no derivation goes on with, and of the end where none ends


@dataclass(frozen=True)
class PcfgLanguageModel(LanguageModel, PickledFields):
    """Exact probabilities of a grammar; embedded: English.

    A word after which no derivation is left has ln p −30, and the words after it too; so has the end of a sentence (and
    of an empty one) that has no tree. Natural logs. Also an `IncrementalLM`: a state is the words
    so far. Raises ModelError for a file that is missing, cut short, or of another kind or version.
    """

    model: Path | None = option(None, doc="grammar, from `rerank train grammar`; default: the embedded English one")

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar, loaded on first use."""
        return read_or_embedded(self.model)

    @cached_property
    def _prefixes(self) -> PrefixChart:
        from rerank_plugins.models.pcfg.prefix import PrefixChart

        return PrefixChart(self.grammar)

    @cached_property
    def _chart(self) -> Chart:
        from rerank_plugins.models.pcfg.inside import Chart

        return Chart(self._prefixes.rules)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word and of `</s>`: one array of len(sentence) + 1 per sentence."""
        from rerank_plugins.models.pcfg.inside import sharing_order

        scores = [np.zeros(0)] * len(sentences)
        for place in sharing_order(sentences):
            scores[place] = self._scored(sentences[place])
        return scores

    def _scored(self, sentence: Sentence) -> FloatArray:
        parts = []
        for start in range(0, max(len(sentence), 1), LONGEST):
            words = self.grammar.lexicon.ids(sentence[start : start + LONGEST])
            ends = start + LONGEST >= len(sentence)
            parts.append(self._steps(words)[: len(words) + ends])
        return np.concatenate(parts)

    def _steps(self, words: IntArray) -> FloatArray:
        """(n + 1) ln p of up to LONGEST words and of the end after them."""
        ln_p = self._prefixes.log_probabilities(words)
        ln_p[0] = 0.0  # of a grammar that is consistent, it is; else its lost mass counts against the first word
        with np.errstate(invalid="ignore"):
            steps = np.diff(ln_p)
        return np.where(np.isfinite(steps), np.minimum(steps, 0.0), FLOOR)

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, by the inside pass alone where that is defined."""
        from rerank_plugins.models.pcfg.inside import sharing_order

        totals = np.empty(len(sentences))
        for place in sharing_order(sentences):
            sentence, whole = sentences[place], -np.inf
            if len(sentence) <= LONGEST:
                self._chart.fill(self.grammar.lexicon.ids(sentence))
                whole = self._chart.log_probability()
            totals[place] = whole if whole > -np.inf else self._scored(sentence).sum()
        return totals

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        from rerank_plugins.models.pcfg.unigrams import ln_unigrams

        return ln_unigrams(self.grammar)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by how frequent the grammar makes it (models/pcfg/unigrams.py)."""
        from rerank_plugins.models.pcfg.unigrams import unigram_scores

        return unigram_scores(self.grammar, self._ln_unigrams, sentences, LONGEST)

    def __contains__(self, word: str) -> bool:
        return word in self.grammar.lexicon

    def start(self) -> State:
        """The state before the first word."""
        return ()

    def advance(self, state: State, word: str) -> tuple[float, State]:
        """Ln p(word | state), and the state after it: the cells that end at the word, if `state` was the last one."""
        place = len(state) % LONGEST
        number = self.grammar.lexicon.number(word, place)
        words = (*state, number)
        return float(self._steps(np.array(words[len(state) - place :], np.int32))[place]), words

    def finish(self, state: State) -> float:
        """Ln p(</s> | state)."""
        words = state[max(0, (len(state) - 1) // LONGEST * LONGEST) :]
        return float(self._steps(np.array(words, np.int32))[-1])
