"""The referential semantic language model over a world model and a grammar (Schuler, Wu & Schwartz 2009).

As a feature: total = ln p(e_1 … e_n </s>); per_word = total / (n + 1); referent = 1 if all words can be read and are a
complete sentence whose best hypothesis refers to something, else 0. Without semantics every complete sentence refers to
everything, and trigrams have no referents. An empty hypothesis has the floor of an unfinished sentence, and no
referent. The cost is one step for each distinct prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rerank_plugins import BoolArray, FloatArray, LanguageModel, PickledFields, Sentence, option
from rerank_plugins.kit.language_models import walk

if TYPE_CHECKING:
    from rerank_plugins.referential.model import ReferentialModel
    from rerank_plugins.referential.trigrams import TrigramModel

Semantics = Literal["world", "none", "trigram"]
Description = Literal["uniform", "informative", "sizes"]
Inference = Literal["forward", "viterbi"]


@dataclass(frozen=True)
class ReferentialLanguageModel(LanguageModel, PickledFields):
    """Sentence ln p by a referential semantic language model: total, per word, and whether a referent remains.

    It is an HHMM over sets of individuals (Schuler, Wu & Schwartz 2009).

    Natural logs. It is also an `IncrementalLM`. Sentences are scored over the trie of their prefixes. A word that no
    hypothesis can read gets a low probability and changes nothing else (see model.py). Raises
    FormatError for a world or a grammar with an error in it, ConfigError for a name that the world does not have, and
    ValueError for options out of range.
    """

    world: Path = option(doc="world model: TOML, or a table of a taxonomy (CSV)")
    grammar: Path = option(doc="grammar whose expressions name relations of the world")
    semantics: Semantics = option(
        "world", doc="relations of the world, none (LM-NoSem), or the model compiled into word trigrams (LM-Trigram)"
    )
    context: str | None = option(None, doc="individual, concept or property that the sentences are about; default: all")
    description: Description = option(
        "informative", doc="relations are equally probable (uniform), unless vacuous (informative), or by sizes of sets"
    )
    vacuous: float = option(0.01, doc="weight of a relation that rules nothing out, above 0 and at most 1")
    inference: Inference = option("forward", doc="sum over hypotheses (forward), or the best of them (viterbi)")
    beam: int = option(1000, doc="hypotheses kept after each word; 0: all")
    depth: int = option(6, doc="levels of a hypothesis: the depth of embedding")

    components = ("total", "per_word", "referent")

    def __post_init__(self) -> None:
        if self.beam < 0:
            raise ValueError(f"beam is {self.beam}, wanted 1 or more hypotheses, or 0 for all")
        if self.depth < 1:
            raise ValueError(f"depth is {self.depth}, wanted 1 or more levels")
        if not 0 < self.vacuous <= 1:
            raise ValueError(f"vacuous is {self.vacuous}, wanted more than 0 and at most 1")

    @property
    def resources(self) -> tuple[Path, ...]:
        """The files that the world model names."""
        from rerank_plugins.referential.world_file import files_of_world

        return tuple(files_of_world(self.world))

    def values(self, sentences: Sequence[Sentence]) -> FloatArray:
        """(n, 3) natural logs, natural logs per word, 1 where a referent remains and else 0."""
        scores, refers = self.score_and_refer(sentences)
        totals = np.array([values.sum() for values in scores], np.float64)
        return np.stack([totals, totals / [len(values) for values in scores], refers], axis=1).reshape(-1, 3)

    @cached_property
    def model(self) -> ReferentialModel:
        """The hierarchic model, read on first use."""
        from rerank_plugins.referential.grammar import read_grammar
        from rerank_plugins.referential.model import ReferentialModel
        from rerank_plugins.referential.world_file import read_world

        return ReferentialModel(
            read_world(self.world), read_grammar(self.grammar), self.depth, self.beam, self.description, self.vacuous,
            self.semantics != "none", self.inference == "viterbi", self.context,
        )  # fmt: skip

    @cached_property
    def stepping(self) -> ReferentialModel | TrigramModel:
        """What reads words: the hierarchic model, or the trigrams that it is compiled into."""
        if self.semantics != "trigram":
            return self.model
        from rerank_plugins.referential.trigrams import compile_trigrams

        return compile_trigrams(self.model)

    def __contains__(self, word: str) -> bool:
        return word in self.model.transitions.states.words

    def start(self) -> Any:
        """The state before the first word: a `Beam`, or a history of two words."""
        return self.stepping.start()

    def advance(self, state: Any, word: str) -> tuple[float, Any]:
        """Ln p(word | state), and the state after it."""
        return self.stepping.advance(state, word)

    def finish(self, state: Any) -> float:
        """Ln p(</s> | state)."""
        return self.stepping.finish(state)

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word given the words before it, and of `</s>` last."""
        return self.score_and_refer(sentences)[0]

    def score_and_refer(self, sentences: Sequence[Sentence]) -> tuple[list[FloatArray], BoolArray]:
        """The result of `score`, and (n) whether each sentence is read to its end and denotes something.

        No sentence has a referent where there are only trigrams.
        """
        scores, refers = [np.zeros(0)] * len(sentences), np.zeros(len(sentences), np.bool_)
        model = None if self.semantics == "trigram" else self.model
        for number, ln_p, states in walk(self.stepping, sentences):
            scores[number] = np.array([*ln_p, self.finish(states[-1])])
            refers[number] = model is not None and model.refers(states[-1])
        return scores, refers
