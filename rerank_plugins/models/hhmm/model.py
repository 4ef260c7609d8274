"""The model as a whole: ln p of each word given the words before it, through a beam of stores.

A word that no store of the beam can read has no parse with what precedes it, as far as the beam goes. It then costs
`LOST` nats more than it has as the first word of a sentence, or, where none can begin with it, than its share of all
words; the model goes on as after the first word of a new sentence. `Beam.lost` counts such words. A sentence that ends
where no store is complete costs `UNFINISHED`.

Without beam and threshold the words that some store reads and the end where one is complete sum to exactly one in every
state. What lost words and unfinished sentences have is in addition to that: of the other words Σ exp(LOST) (P as first
word, or share), at most 2e-4, and exp(UNFINISHED) = 1e-6 for an end where there should be none. So the probabilities of
all sentences sum to slightly more than one, by a factor of at most `EXCESS` for each word and for the end. To take it
off would need the sum over the words that cannot be read, the whole vocabulary for every state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rerank_plugins.errors import ConfigError
from rerank_plugins.models.hhmm.counting import Events
from rerank_plugins.models.hhmm.store import Beam, start_of
from rerank_plugins.models.hhmm.tables import Tables, lay_out
from rerank_plugins.models.pcfg.grammar import ROOT, Grammar
from rerank_plugins.pickling import PickledFields

LOST = math.log(1e-4)
UNFINISHED = math.log(1e-6)
RAREST = math.log(1e-9)  # a word that the grammar gives no probability at all
EXCESS = 1 + 2 * math.exp(LOST) + math.exp(UNFINISHED)  # what a step's probabilities sum to at most


@dataclass(frozen=True, eq=False)
class HhmmModel(PickledFields):
    """A grammar as a hierarchic hidden Markov model with a store of `depth` elements; an `IncrementalLM`.

    `beam`        how many stores are kept after each word; 0: all
    `threshold`   stores below this share of the best are left out
    `bounded`     whether probabilities are those given that a tree fits in the store (they then sum to one)
    `entropies`   keep entropies of derivations
    `derivations` keep the beams before, for the best tree
    `events`      counted in trees: the model is estimated from them, the grammar smooths it (interpolation.py)
    `shared_tables` the tables of a model that differs only in its search (`with_search`); None: they are computed
    """

    grammar: Grammar
    depth: int = 4
    beam: int = 500
    threshold: float = 1e-6
    bounded: bool = True
    entropies: bool = False
    derivations: bool = False
    events: Events | None = None
    shared_tables: Tables | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.beam < 0:
            raise ConfigError(f"a beam of {self.beam} stores, wanted 1 or more, or 0 for all")
        if not 0 <= self.threshold < 1:
            raise ConfigError(f"a threshold of {self.threshold:g}, wanted 0 or more and below 1")
        if self.events and (self.events.depth != self.depth or not self.bounded):
            found = f"a store of {self.depth} elements" if self.bounded else "a store without bounds"
            raise ConfigError(f"{found}, but this model's events were counted for {self.events.depth} elements")

    @cached_property
    def tables(self) -> Tables:
        """The grammar laid out for the search: computed once, with `depth` inversions of matrices of its symbols."""
        if self.shared_tables is not None:
            return self.shared_tables
        return lay_out(self.grammar, self.depth, bounded=self.bounded, events=self.events)

    def with_search(self, *, beam: int | None = None, entropies: bool = False, derivations: bool = False) -> HhmmModel:
        """The model with the same tables and another search, which has this model's beam unless another is given."""
        return replace(
            self,
            beam=self.beam if beam is None else beam,
            entropies=entropies,
            derivations=derivations,
            shared_tables=self.tables,
        )

    def start(self) -> Beam:
        """The beam before the first word."""
        return start_of(self.depth)

    def advance(self, state: Beam, word: str) -> tuple[float, Beam]:
        """Ln p(word | state), and the beam after it. A beam of many stores leaves out little: p sums to almost one."""
        ln_p, beam = self._step(state, word, state.length)
        if beam is not None:
            return ln_p, beam
        ln_p, beam = self._step(self.start(), word, state.length)
        if beam is None:  # nothing can begin with it
            return LOST + self._share(word, state.length), self._followed(state, self.start(), 0.0)
        return LOST + ln_p, self._followed(state, beam, beam.scale)

    def finish(self, state: Beam) -> float:
        """Ln p(</s> | state)."""
        if not len(state):
            return UNFINISHED
        done = np.flatnonzero(state.stores[:, 0] < 0)
        p = float(state.values[done] @ self.tables.ending[state.stores[done, -1]])
        return min(math.log(p), 0.0) if p > 0 else UNFINISHED

    def _step(self, state: Beam, word: str, position: int) -> tuple[float, Beam | None]:
        from rerank_plugins.models.hhmm.transitions import advanced

        tables = self.tables
        p, stores, values, likely, scale, entropy, back = advanced(
            tables.rules, tables.emission(word, position), state.stores, state.values, state.likely, state.entropy,
            self.depth, ROOT, tables.mass, self.beam, self.threshold, self.entropies,
        )  # fmt: skip
        if not len(stores):
            return -math.inf, None
        ln_p = min(math.log(p), 0.0)
        before = state if self.derivations else None
        beam = Beam(position + 1, stores, values, likely, state.scale + scale, entropy, back, before, state.lost)
        return ln_p, beam

    def _followed(self, state: Beam, beam: Beam, scale: float) -> Beam:
        """A beam that starts anew, in the place of the one after `state`."""
        before = state if self.derivations else None
        return replace(beam, length=state.length + 1, scale=scale, before=before, lost=state.lost + 1)

    def _share(self, word: str, position: int) -> float:
        """Ln of the mean of P(word | preterminal)."""
        emission = self.tables.emission(word, position)
        p = float(emission.p.sum()) / max(1, int(self.grammar.preterminals.sum()))
        return math.log(p) if p > 0 else RAREST
