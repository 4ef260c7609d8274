"""The incremental syntactic language model, over any grammar or the embedded English one (Schwartz et al. 2011).

As a feature: total = ln p(e_1 … e_n </s>); per_word = total / (n + 1); lost = -(number of unparsed words, which no
store of the beam could read) / n. An empty hypothesis has the floor of an unfinished sentence, and lost = 0. The cost
is one step for each distinct prefix.

Its measures of how hard a word is to process (Wu et al. 2010; Hale 2001, 2006):

    surprisal(t)  = log2 Pre(o_1 … o_{t-1}) - log2 Pre(o_1 … o_t) = -log2 p(o_t | o_1 … o_{t-1})        (3)
    ER(t)         = max(0, H_{t-1} - H_t), H_t the entropy of the model's analyses after o_t             (4), (5)
    EmbDiff(t)    = μ_EMB(t) - μ_EMB(t-1), μ_EMB the expected depth of the store                         (15), (16)

Surprisal and entropy are in bits, depth is in elements of the store. H is the entropy of the derivations given the
words, or that of the stores; the paper prints (4) without the minus sign and not normalised. An n-gram model defines
surprisal alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from rerank_plugins import FloatArray, LanguageModel, PickledFields, Sentence, option
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.kit.vocabulary.unknown_types import check_unknown_types, unknown_types_option

if TYPE_CHECKING:
    from rerank_plugins.constituency.grammar import Grammar
    from rerank_plugins.hhmm.event_counts import Events
    from rerank_plugins.hhmm.model import Beam, HhmmModel


EMBEDDED = embedded("hhmm.pcfg")
BEAM, THRESHOLD = 200, 1e-5  # defaults of the beam
LN2 = math.log(2.0)
EntropyKind = Literal["derivations", "stores"]


@dataclass(frozen=True)
class HhmmLanguageModel(LanguageModel, PickledFields):
    """Sentence ln p by incremental parsing: total, per word, and minus the proportion of unparsed words.

    The parser has a bounded store, and keeps a beam of stores (Schwartz et al. 2011); by default it is English.

    Natural logs. It is also an `IncrementalLM`, whose state is an immutable `Beam`. Sentences are scored over the trie
    of their prefixes. A word that no store of the beam can read gets a low probability, and the model starts afresh
    after it (see model.py). Raises ModelError for a file that is missing, cut short, or of another kind or
    version.
    """

    file_kind: ClassVar[str] = "hhmm"
    model: Path | None = option(
        None, doc="model from `rerank train hhmm`, or a grammar; default: the embedded English one"
    )
    beam: int = option(BEAM, doc="stores kept in the beam after each word; 0: all")
    depth: int = option(4, doc="elements of a store, 1 to 63: the depth of centre embedding")
    threshold: float = option(THRESHOLD, doc="stores below this fraction of the best one's probability are pruned")
    unknown_types: int | None = unknown_types_option("of each signature, as the model file says")

    def __post_init__(self) -> None:
        check_beam(self.beam, self.depth, self.threshold)
        check_unknown_types(self.unknown_types)

    @cached_property
    def hhmm(self) -> HhmmModel:
        """The grammar as a hierarchic hidden Markov model, built on first use."""
        from rerank_plugins.hhmm.model import HhmmModel

        grammar, events = read_or_embedded(self.model)
        return HhmmModel(
            grammar, self.depth, self.beam, self.threshold, events=events, unknown_types=self.unknown_types
        )

    def __contains__(self, word: str) -> bool:
        return word in self.hhmm.grammar.lexicon

    @property
    def components(self) -> tuple[str, ...]:
        """`total`, `per_word`, `lost`."""
        return ("total", "per_word", "lost")

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, minus the proportion of unparsed words."""
        scores, unparsed = self.score_and_lost(sentences)
        values = np.empty((len(sentences), 3))
        for row, (sentence, ln_p) in enumerate(zip(sentences, scores, strict=True)):
            total = float(ln_p.sum())
            values[row] = total, total / len(ln_p), 0.0 - unparsed[row] / max(len(sentence), 1)
        return values

    def start(self) -> Beam:
        """The beam before the first word."""
        return self.hhmm.start()

    def advance(self, state: Beam, word: str) -> tuple[float, Beam]:
        """Ln p(word | state), and the beam after it."""
        return self.hhmm.advance(state, word)

    def finish(self, state: Beam) -> float:
        """Ln p(</s> | state)."""
        return self.hhmm.finish(state)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it, and of `</s>` last."""
        return self.score_and_lost(sentences)[0]

    def score_and_lost(self, sentences: Sequence[Sentence]) -> tuple[list[FloatArray], FloatArray]:
        """The result of `score`, and (n) the number of words of each sentence that no store of the beam could read."""
        from rerank_plugins.kit.language_models import walk

        scores, unparsed = [np.zeros(0)] * len(sentences), np.zeros(len(sentences))
        for number, ln_p, states in walk(self.hhmm, sentences):
            scores[number] = np.array([*ln_p, self.hhmm.finish(states[-1])])
            unparsed[number] = states[-1].unparsed
        return scores, unparsed

    @cached_property
    def _ln_unigrams(self) -> FloatArray:
        from rerank_plugins.constituency.grammar import ln_unigrams

        return np.asarray(ln_unigrams(self.hhmm.grammar) - np.append(self.hhmm.ln_types, 0.0), np.float64)

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last, by its expected frequency under the grammar."""
        from rerank_plugins.constituency.grammar import unigram_scores

        return unigram_scores(self.hhmm.grammar, self._ln_unigrams, sentences)

    def complexity(self, sentences: Sequence[Sentence], entropy: EntropyKind = "derivations") -> list[Complexity]:
        """Surprisal, entropy and expected depth of the store, word by word."""
        from rerank_plugins.kit.language_models import walk

        measures: list[Complexity | None] = [None] * len(sentences)
        measuring = self._measuring
        for number, ln_p, states in walk(measuring, sentences):
            values = np.array([*ln_p, measuring.finish(states[-1])])
            entropies = [state.store_entropy if entropy == "stores" else state.derivation_entropy for state in states]
            bits = np.array(entropies) / LN2
            depth = np.array([state.mean_depth for state in states])
            unparsed = np.array([state.unparsed for state in states])  # words so far
            measures[number] = Complexity(0.0 - values / LN2, bits, depth, np.diff(unparsed).astype(np.float64))
        return [measure for measure in measures if measure is not None]

    @cached_property
    def _measuring(self) -> HhmmModel:
        """The same model, on the same tables, with the entropies kept as well."""
        return self.hhmm.with_search(entropies=True)


@dataclass(frozen=True, eq=False)
class Complexity:
    """Complexity measures of a sentence of n words; NaN where the model does not define them.

    `surprisal` (n + 1) bits, of each word and of `</s>` last
    `entropy`   (n + 1) bits, before the first word and after each
    `depth`     (n + 1) expected number of elements of the store, before the first word and after each
    `unparsed`  (n) 1 for each unparsed word, which the model could not read, else 0
    """

    surprisal: FloatArray
    entropy: FloatArray
    depth: FloatArray
    unparsed: FloatArray

    @property
    def reduction(self) -> FloatArray:
        """(n) entropy reduction of each word, in bits (5)."""
        return np.asarray(np.maximum(0.0, -np.diff(self.entropy)), np.float64)

    @property
    def difference(self) -> FloatArray:
        """(n) embedding difference of each word, in elements of the store (16)."""
        return np.asarray(np.diff(self.depth), np.float64)


@runtime_checkable
class Measured(Protocol):
    """A language model that defines measures of complexity beyond the probability of a word."""

    def complexity(self, sentences: Sequence[Sentence], entropy: EntropyKind) -> list[Complexity]:
        """Complexity measures of each sentence."""
        ...


def complexity(
    model: LanguageModel, sentences: Sequence[Sentence], entropy: EntropyKind = "derivations"
) -> list[Complexity]:
    """Complexity measures of each sentence, as far as the model defines them; NaN for the others."""
    if isinstance(model, Measured):
        return model.complexity(sentences, entropy)
    measures = []
    for ln_p in model.score(sentences):
        undefined = np.full(len(ln_p), np.nan)
        measures.append(Complexity(0.0 - ln_p / LN2, undefined, undefined, undefined[1:]))
    return measures


def read_or_embedded(model: Path | None, language: str = "") -> tuple[Grammar, Events | None]:
    """Read a grammar and the events of its trees, if the file has them; the embedded grammar if `model` is None.

    All that use the embedded grammar share it; it has no events. Raises ModelError as `read_hhmm` does, and for a model
    that was trained for another language than `language`, unless that is empty.
    """
    from rerank_plugins.constituency.model_file import read_grammar
    from rerank_plugins.hhmm.model_file import read_hhmm

    read = read_hhmm(model) if model else (shared_if_embedded(EMBEDDED, read_grammar), None)
    read_trained_on(model or EMBEDDED).check_language(language, model or EMBEDDED)
    return read


def check_beam(beam: int, depth: int, threshold: float) -> None:
    """Raise ValueError if an option is out of range."""
    if beam < 0 or not 1 <= depth <= 63 or not 0 <= threshold < 1:
        raise ValueError("beam is 0 or more, depth from 1 to 63, threshold from 0 to below 1")
