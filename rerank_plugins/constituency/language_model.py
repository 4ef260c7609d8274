"""A grammar as a language model: words are scored by prefix probabilities, sentences by inside probabilities.

ln p(w_j | w_1 … w_{j-1}) = ln P(w_1 … w_j …) − ln P(w_1 … w_{j-1} …), and ln p(</s>) is the rest of ln p(w_1 … w_n).
Nothing is pruned; with a latent grammar this is the PCFG-LA of Pauls & Klein (2012). An unknown word has one type's
share of the probability of its signature (kit/vocabulary/unknown_types.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rerank_plugins import FloatArray, IntArray, LanguageModel, PickledFields, Sentence, option
from rerank_plugins.constituency.model_file import read_or_embedded
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, unknown_types_option

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar
    from rerank_plugins.constituency.prefix import PrefixChart
    from rerank_plugins.kit.charts.inside import Chart

State = tuple[int, ...]  # the words so far, by their numbers in the lexicon

LONGEST = 200  # words; a longer sentence is scored in pieces, of which only the last is scored with its end
FLOOR = -30.0  # ln p of a word that continues no derivation, and of the end where no derivation is complete


@dataclass(frozen=True)
class PcfgLanguageModel(LanguageModel, PickledFields):
    """Exact probabilities under a grammar; embedded: English.

    A word that leaves no derivation has ln p −30, and so have the words after it and the end of a sentence without a
    tree, an empty sentence included. Natural logs. It is also an `IncrementalLM`, whose state is the words so far.
    Raises ModelError for a file that is missing, cut short, or of another kind or version.
    """

    file_kind: ClassVar[str] = "grammar"
    model: Path | None = option(None, doc="grammar from `rerank train grammar`; default: the embedded English one")
    unknown_types: int | None = unknown_types_option("of each signature, as the model file says")

    def __post_init__(self) -> None:
        check_unknown_types(self.unknown_types)

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar, loaded on first use."""
        return read_or_embedded(self.model)

    @cached_property
    def _ln_types(self) -> FloatArray:
        """(W) ln of the number of types that each word of the lexicon stands for."""
        return self.grammar.lexicon.ln_types_stated(self.unknown_types)

    @cached_property
    def _prefixes(self) -> PrefixChart:
        from rerank_plugins.constituency.prefix import PrefixChart

        return PrefixChart(self.grammar)

    @cached_property
    def _chart(self) -> Chart:
        from rerank_plugins.kit.charts.inside import Chart

        return Chart(self._prefixes.rules)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word and of `</s>`: one array of len(sentence) + 1 per sentence."""
        from rerank_plugins.kit.charts.inside import sharing_order

        scores = [np.zeros(0)] * len(sentences)
        for index in sharing_order(sentences):
            scores[index] = self._scored(sentences[index])
        return scores

    def _scored(self, sentence: Sentence) -> FloatArray:
        """(n + 1) ln p of the words and of `</s>`, in pieces of at most LONGEST words."""
        parts = []
        for start in range(0, max(len(sentence), 1), LONGEST):
            words = self.grammar.lexicon.ids(sentence[start : start + LONGEST])
            ends = start + LONGEST >= len(sentence)
            parts.append(self._steps(words)[: len(words) + ends])
        return np.concatenate(parts)

    def _steps(self, words: IntArray) -> FloatArray:
        """(n + 1) ln p of up to LONGEST words and of the end after them."""
        ln_p = self._prefixes.log_probabilities(words)
        ln_p[0] = 0.0  # as in a consistent grammar; otherwise the first word pays for the missing mass
        with np.errstate(invalid="ignore"):
            steps = np.diff(ln_p)
        types = np.append(self._ln_types[words], 0.0)
        return np.where(np.isfinite(steps), np.minimum(steps, 0.0) - types, FLOOR)

    def totals(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n) ln p of each sentence, by the inside pass alone where the sentence is short enough and has a tree."""
        from rerank_plugins.kit.charts.inside import sharing_order

        totals = np.empty(len(sentences))
        for index in sharing_order(sentences):
            sentence, inside = sentences[index], -np.inf
            if len(sentence) <= LONGEST:
                words = self.grammar.lexicon.ids(sentence)
                self._chart.fill(words)
                inside = self._chart.log_probability() - self._ln_types[words].sum()
            totals[index] = inside if inside > -np.inf else self._scored(sentence).sum()
        return totals

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        from rerank_plugins.constituency.grammar import ln_unigrams

        return np.asarray(ln_unigrams(self.grammar) - np.append(self._ln_types, 0.0), np.float64)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its expected frequency under the grammar (grammar.py)."""
        from rerank_plugins.constituency.grammar import unigram_scores

        return unigram_scores(self.grammar, self._ln_unigrams, sentences, LONGEST)

    def __contains__(self, word: str) -> bool:
        return word in self.grammar.lexicon

    def start(self) -> State:
        """The state before the first word."""
        return ()

    def advance(self, state: State, word: str) -> tuple[float, State]:
        """Ln p(word | state), and the state after it; fills only the word's own cells if `state` was the last one."""
        place = len(state) % LONGEST
        number = self.grammar.lexicon.number(word, place)
        words = (*state, number)
        return float(self._steps(np.array(words[len(state) - place :], np.int32))[place]), words

    def finish(self, state: State) -> float:
        """Ln p(</s> | state)."""
        words = state[max(0, (len(state) - 1) // LONGEST * LONGEST) :]
        return float(self._steps(np.array(words, np.int32))[-1])
