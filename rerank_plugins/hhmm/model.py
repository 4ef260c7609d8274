"""The HHMM as an incremental language model: ln p of each word given the words before it, by a beam of stores.

If no store of the beam can read a word, the word cannot be parsed together with what precedes it, as far as the beam
goes. Its ln p is then `UNPARSED` plus its ln p as the first word of a sentence or, if no sentence can begin with it,
plus ln of its mean emission probability; the model goes on as after the first word of a new sentence. `Beam.unparsed`
counts such words. The end of a sentence for which no store is complete has ln p `UNFINISHED`.

Without beam and threshold, the probabilities of the words that some store can read, and of the end where some store is
complete, sum to exactly one in every state. The probabilities of unparsed words and of unfinished sentences come on top
of that: exp(UNPARSED) times the sum over the unparsed words of P as first word (or of that mean), at most 2e-4, and
exp(UNFINISHED) = 1e-6 for an end that has no derivation. The probabilities of all sentences therefore sum to slightly
more than one, by a factor of at most `EXCESS` for each word and for the end. To normalise them exactly would take a sum
over the words that cannot be read, which is the whole vocabulary, in every state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from rerank_plugins import ConfigError, FloatArray, IntArray, LongArray, PickledFields
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.core.errors import naming
from rerank_plugins.hhmm.event_counts import Events
from rerank_plugins.hhmm.search_tables import Emission, Tables, lay_out
from rerank_plugins.hhmm.transitions import read_word
from rerank_plugins.kit.language_models import UNFINISHED, UNPARSED

RAREST = math.log(1e-9)  # for a word to which the grammar gives no probability at all
EXCESS = 1 + 2 * math.exp(UNPARSED) + math.exp(UNFINISHED)  # an upper bound of the sum over all next words


@dataclass(frozen=True, eq=False)
class HhmmModel(PickledFields):
    """A grammar as a hierarchic hidden Markov model with a store of `depth` elements; an `IncrementalLM`.

    `beam`        the number of stores that are kept after each word; 0 keeps all
    `threshold`   stores whose probability is below this fraction of the best one's are pruned
    `bounded`     whether probabilities are conditioned on trees that fit in the store (they then sum to one)
    `entropies`   whether to compute the entropy of each store's derivations
    `derivations` whether each beam keeps the beam before it, from which the best tree is read
    `events`      event counts of trees: the model is estimated from them and smoothed by the grammar (interpolation.py)
    `unknown_types` how many types each signature stands for; None: as the grammar's lexicon says
    `shared_tables` the tables of a model that differs only in its search (`with_search`); None: they are computed

    Raises ConfigError for a beam or threshold out of range, and for events counted with another depth.
    """

    grammar: Grammar
    depth: int = 4
    beam: int = 500
    threshold: float = 1e-6
    bounded: bool = True
    entropies: bool = False
    derivations: bool = False
    events: Events | None = None
    unknown_types: int | None = None
    shared_tables: Tables | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.beam < 0:
            raise ConfigError(f"a beam of {self.beam} stores, wanted 1 or more, or 0 for all")
        if not 0 <= self.threshold < 1:
            raise ConfigError(f"a threshold of {self.threshold:g}, wanted 0 or more and below 1")
        if self.events and (self.events.depth != self.depth or not self.bounded):
            store = f"a store of {self.depth} elements" if self.bounded else "a store without bounds"
            raise ConfigError(f"{store}, but this model's events were counted for {self.events.depth} elements")

    @cached_property
    def tables(self) -> Tables:
        """The grammar laid out for the search; computed once, by 2 · `depth` inversions of (S, S) matrices."""
        if self.shared_tables is not None:
            return self.shared_tables
        with naming(self.grammar.path):
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

    @cached_property
    def ln_types(self) -> FloatArray:
        """(W) ln of the number of types that each word of the lexicon stands for."""
        return self.grammar.lexicon.ln_types_stated(self.unknown_types)

    def advance(self, state: Beam, word: str) -> tuple[float, Beam]:
        """Return ln p(word | state) and the beam after the word; if the beam is wide, p sums to almost one.

        An unknown word has one type's share of the probability of its signature.
        """
        ln_p, beam = self._read(state, word)
        return ln_p - float(self.ln_types[self.grammar.lexicon.number(word, state.length)]), beam

    def _read(self, state: Beam, word: str) -> tuple[float, Beam]:
        """Return the result of `advance` for a word of the lexicon, or for the signature of an unknown one."""
        ln_p, beam = self._step(state, word, state.length)
        if beam is not None:
            return ln_p, beam
        ln_p, beam = self._step(self.start(), word, state.length)
        if beam is None:  # no sentence can begin with this word
            return UNPARSED + self._share(word, state.length), self._restarted(state, self.start(), 0.0)
        return UNPARSED + ln_p, self._restarted(state, beam, beam.scale)

    def finish(self, state: Beam) -> float:
        """Return ln p(</s> | state)."""
        if not len(state):
            return UNFINISHED
        complete = np.flatnonzero(state.stores[:, 0] < 0)
        p = float(state.values[complete] @ self.tables.ending[state.stores[complete, -1]])
        return min(math.log(p), 0.0) if p > 0 else UNFINISHED

    def _step(self, state: Beam, word: str, position: int) -> tuple[float, Beam | None]:
        """Return ln p(word | state) and the beam after the word; None if no store can read it."""
        while (step := self._try_step(state, self.tables.emission(word, position), position)) is None:
            self.tables.enlarge()
        return step

    def _try_step(self, state: Beam, word: Emission, position: int) -> tuple[float, Beam | None] | None:
        """Return the result of `_step`; None if the tables lack room."""
        tables, search = self.tables, self.tables.search
        search.clock[0] += len(search.order)
        beginning = 0.0 if len(state) else tables.begin(word)
        before = state.stores, state.values, state.viterbi, state.entropy
        p, count, scale = read_word(search, word, *before, beginning, self.beam, self.threshold, self.entropies)
        if count < 0:
            return None
        if not count:
            return -math.inf, None
        stores, back = search.after.stores[:count].copy(), search.after.back[:count].copy()
        after = search.after
        values, viterbi, entropy = (array[:count].copy() for array in (after.values, after.viterbi, after.entropy))
        kept = state if self.derivations else None
        beam = Beam(position + 1, stores, values, viterbi, state.scale + scale, entropy, back, kept, state.unparsed)
        return min(math.log(p), 0.0), beam

    def _restarted(self, state: Beam, beam: Beam, scale: float) -> Beam:
        """Put a restarted beam in the place of the beam after `state`."""
        before = state if self.derivations else None
        return replace(beam, length=state.length + 1, scale=scale, before=before, unparsed=state.unparsed + 1)

    def _share(self, word: str, position: int) -> float:
        """Return ln of the mean of P(word | preterminal) over all preterminals."""
        emission = self.tables.emission(word, position)
        p = float(emission.p.sum()) / max(1, int(self.grammar.preterminals.sum()))
        return math.log(p) if p > 0 else RAREST


@dataclass(frozen=True, eq=False)
class Beam:
    """Stores after `length` words, most probable first; immutable. Beams are equal if their stores and values are.

    `stores`   (n, D + 1) int32: elements a << 16 | b from the bottom up, -1 if none, then the completed node
    `values`   (n) probability of each store given the words; they sum to one
    `viterbi`  (n) Viterbi probability, that of its best derivation, divided by exp(`scale`) P(words)
    `entropy`  (n) entropy in nats of the derivations of each store; zeros unless requested
    `back`     (n, 5) int32 back-pointer of the best derivation: row of the store before, rule, kind of reduction,
               preterminal, kind of expansion
    `before`   the beam before the last word, if derivations are kept
    `unparsed` the number of words that no store could read
    """

    length: int
    stores: IntArray
    values: FloatArray
    viterbi: FloatArray
    scale: float
    entropy: FloatArray
    back: IntArray
    before: Beam | None = None
    unparsed: int = 0

    def __len__(self) -> int:
        return len(self.stores)

    @property
    def _content(self) -> tuple[bool, bytes, bytes]:
        return self.length == 0, self.stores.tobytes(), self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Beam) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def best(self) -> tuple[int, ...]:
        """The most probable store, by which a decoder may recombine hypotheses; empty before the first word."""
        return tuple(self.stores[0].tolist()) if len(self) else ()

    @property
    def depths(self) -> LongArray:
        """(n) the number of elements of each store, including the one that holds the last word's preterminal."""
        return np.asarray((self.stores[:, :-1] >= 0).sum(axis=1) + 1, np.int64)

    @property
    def mean_depth(self) -> float:
        """Expected embedding depth μ_EMB (Wu et al. 2010, equation 15); 0 before the first word."""
        return float(self.values @ self.depths) if len(self) else 0.0

    @property
    def store_entropy(self) -> float:
        """Entropy in nats of the distribution over stores, irrespective of their derivations."""
        values = self.values[self.values > 0]
        return -float(values @ np.log(values)) + 0.0

    @property
    def derivation_entropy(self) -> float:
        """Entropy in nats over the derivations in the beam; they differ in reductions, rules or preterminals."""
        return self.store_entropy + float(self.values @ self.entropy)


def start_of(depth: int) -> Beam:
    """Return the beam before the first word: the empty store, which awaits ROOT."""
    empty = np.zeros(0)
    return Beam(0, np.zeros((0, depth + 1), np.int32), empty, empty, 0.0, empty, np.zeros((0, 5), np.int32))
