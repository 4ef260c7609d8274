"""The referential model as an incremental language model: ln p of each word given those before, by a beam.

In the forward mode the probability of a word sums over all hypotheses; in the Viterbi mode it is that of the best one,
as in the paper's decoder, and words do not sum to one. A word that no hypothesis can read gets ln p `UNPARSED` plus the
ln of 1 / the size of the vocabulary; the hypotheses stay as they are, as if it had not been said, so that a sentence
with a wrong word in it still has a referent. The end of a sentence that no hypothesis completes has ln p `UNFINISHED`.
Both are those of the syntactic model (hhmm/model.py), whose bounds on the sum of all probabilities hold here
too.

Without a beam, the probabilities of all words and of the end sum to one in every state, less the mass of
expansions beyond the depth, and of referents without any departing transition (which takes a category with nothing but
`{down}` or `{up}`). The missing mass stays missing: `advance` divides by the remaining mass.

The best hypothesis, of which `ground` gives the referents of the words and the tree, is the one whose whole derivation
has the highest probability; it is followed back from the last word, so that the referents of early words are those that
the later words confirm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, LongArray
from rerank_plugins.kit.language_models import UNFINISHED, UNPARSED
from rerank_plugins.referential.grammar import Grammar, States
from rerank_plugins.referential.relations import EMPTY, IDENTITY, TOP
from rerank_plugins.referential.transitions import Description, Kind, Stack, Transitions
from rerank_plugins.referential.world import World


@dataclass(frozen=True, eq=False)
class ReferentialModel:
    """A world and a grammar as a hierarchic hidden Markov model with referents; an `IncrementalLM`.

    `depth`       the number of levels; `beam` the number of hypotheses kept after each word, 0 keeps all
    `description` and `vacuous`  the description model (transitions.py)
    `semantics`   whether relations mean anything; if not, every referent is the set of all individuals (LM-NoSem)
    `viterbi`     whether ln p is that of the best hypothesis
    `context`     the name of what the conversation is about: an individual, a concept or a property; None: everything

    Raises FormatError where the grammar has relations that the world has not, and ConfigError for too small a depth and
    an unknown context.
    """

    world: World
    grammar: Grammar
    depth: int = 6
    beam: int = 1000
    description: Kind = "informative"
    vacuous: float = 0.01
    semantics: bool = True
    viterbi: bool = False
    context: str | None = None

    def __post_init__(self) -> None:
        self.grammar.check_depth(self.depth)
        self.grammar.check_labels(self.world)

    @cached_property
    def transitions(self) -> Transitions:
        """The transitions between stacks, computed on demand and kept."""
        states = States(self.grammar, self.world.taxonomy.labels if self.world.taxonomy else ())
        description = Description(self.world, states, self.description, self.vacuous, self.semantics)
        context = self.world.referent(self.context) if self.context is not None and self.semantics else TOP
        return Transitions(description, self.depth, context)

    def start(self) -> Beam:
        """The beam before the first word."""
        return START_BEAM

    def advance(self, state: Beam, word: str) -> tuple[float, Beam]:
        """Return ln p(word | state) and the beam after the word."""
        values: dict[Stack, float] = {}
        best: dict[Stack, tuple[float, int]] = {}
        for pending, (value, likely, row) in self._pending(state).items():
            for _, stack, p in self.transitions.steps(pending, word):
                values[stack] = values.get(stack, 0.0) + value * p
                score = likely + math.log(p)
                if stack not in best or score > best[stack][0]:
                    best[stack] = score, row
        if not values:
            ln_p = UNPARSED - math.log(max(1, len(self.transitions.states.words)))
            rows = np.arange(len(state), dtype=np.int64)
            kept = state.best + ln_p
            return ln_p, Beam(state.stacks, state.values, kept, rows, state, word, state.length + 1, state.unread + 1)
        total = sum(values.values())
        ranked = sorted(values, key=lambda stack: (-best[stack][0] if self.viterbi else -values[stack], stack))
        if self.beam:
            ranked = ranked[: self.beam]
        kept_values = np.array([values[stack] for stack in ranked])
        scores = np.array([best[stack][0] for stack in ranked])
        rows = np.array([best[stack][1] for stack in ranked], np.int64)
        ln_p = float(scores.max() - state.best.max()) if self.viterbi else math.log(total)
        return min(ln_p, 0.0), Beam(
            tuple(ranked), kept_values / kept_values.sum(), scores, rows, state, word, state.length + 1, state.unread
        )

    def finish(self, state: Beam) -> float:
        """Return ln p(</s> | state)."""
        complete = self.complete(state)
        if not complete:
            return UNFINISHED
        if self.viterbi:
            return min(float(state.best[complete].max() - state.best.max()), 0.0)
        return min(math.log(float(state.values[complete].sum())), 0.0)

    def complete(self, state: Beam) -> list[int]:
        """The rows of the hypotheses for which the sentence is complete."""
        return [row for row, stack in enumerate(state.stacks) if stack and len(self.transitions.pending(stack)) == 1]

    def final_row(self, state: Beam) -> int:
        """The row of the best hypothesis: the best complete one, or the best of all if none is complete."""
        rows = self.complete(state) or range(len(state))
        return max(rows, key=lambda row: (state.best[row], -row))

    def final_referent(self, state: Beam) -> int:
        """The referent of the best hypothesis after the sentence; all individuals for an empty sentence."""
        stack = state.stacks[self.final_row(state)]
        if not stack:
            return self.transitions.context
        pending = self.transitions.pending(stack)
        return pending[0] if len(pending) == 1 else pending[-2]

    def refers(self, state: Beam) -> bool:
        """Whether every word was read, and the words are a complete sentence that denotes something."""
        return not state.unread and bool(self.complete(state)) and self.final_referent(state) != EMPTY

    def _pending(self, state: Beam) -> dict[Stack, tuple[float, float, int]]:
        """The pending stacks that can go on: probability, ln p of the best derivation, and the row it comes from."""
        groups: dict[Stack, tuple[float, float, int]] = {}
        for row, (stack, value, likely) in enumerate(
            zip(state.stacks, state.values.tolist(), state.best.tolist(), strict=True)
        ):
            pending = self.transitions.pending(stack) if stack else stack
            if len(pending) == 1:
                continue
            before, best, place = groups.get(pending, (0.0, -math.inf, row))
            groups[pending] = before + value, max(best, likely), row if likely > best else place
        return groups


@dataclass(frozen=True, eq=False)
class Beam:
    """Stacks after `length` words, the most probable first; immutable. Beams with equal stacks and values are equal.

    `values`  (n) probability of each stack given the words, over all its derivations; they sum to one
    `best`    (n) ln p of the best derivation of each stack, with the words
    `back`    (n) the row of the beam `before` that the best derivation comes from
    `word`    the last word, and `unread` the number of words that no hypothesis could read
    """

    stacks: tuple[Stack, ...]
    values: FloatArray
    best: FloatArray
    back: LongArray
    before: Beam | None = None
    word: str = ""
    length: int = 0
    unread: int = 0

    @property
    def _content(self) -> tuple[tuple[Stack, ...], bytes]:
        return self.stacks, self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Beam) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def __len__(self) -> int:
        return len(self.stacks)


START_BEAM = Beam(((),), np.ones(1), np.zeros(1), np.zeros(1, np.int64))


class Grounded(NamedTuple):
    """A word, and the stack of referents after it, from the top level down; None if no hypothesis could read it.

    `levels` are the categories of the levels, with their shift and reduce relations and referents.
    """

    word: str
    levels: tuple[Level, ...] | None


class Level(NamedTuple):
    """A level of a stack: the category of its expression, the relations of the expression, and the referent."""

    category: str
    shift: str
    reduce: str
    referent: int


class Grounding(NamedTuple):
    """The best hypothesis of a sentence: its words, whether it is complete, its final referent, and its tree."""

    words: tuple[Grounded, ...]
    complete: bool
    referent: int
    tree: str


def ground(model: ReferentialModel, state: Beam) -> Grounding:
    """The best hypothesis of the words that led to a beam."""
    path = _path(model, state)
    complete = bool(model.complete(state))
    words = tuple(Grounded(word, _levels(model, stack) if stack is not None else None) for word, stack in path)
    return Grounding(words, complete, model.final_referent(state), _tree(model, path))


def _path(model: ReferentialModel, state: Beam) -> list[tuple[str, Stack | None]]:
    """Each word with the stack after it."""
    path: list[tuple[str, Stack | None]] = []
    row = model.final_row(state)
    while state.before is not None:
        read = state.unread == state.before.unread
        path.append((state.word, state.stacks[row] if read else None))
        row, state = int(state.back[row]), state.before
    return path[::-1]


def _levels(model: ReferentialModel, stack: Stack) -> tuple[Level, ...]:
    states = model.transitions.states
    return tuple(
        Level(*states.expression[state], states.reduce[state], referent)
        for referent, state in zip(stack[::2], stack[1::2], strict=True)
    )


def _tree(model: ReferentialModel, path: list[tuple[str, Stack | None]]) -> str:
    """The tree in brackets: `(NP (Det the) (Noun:EXECUTABLE executable))`; reduce relations follow a slash."""
    parts: list[str] = []
    depth = 0
    before: Stack = ()
    for word, stack in path:
        kept = len(model.transitions.pending(before)) // 2 if before else 0
        if stack is None:  # an unread word hangs below what is not yet complete, or the whole
            kept = min(depth, max(kept, 1))
            parts.append(f"{')' * (depth - kept)} (? {word})")
            depth = kept
            continue
        parts.append(")" * (depth - kept))
        for level in _levels(model, stack)[kept:]:
            shift = f":{level.shift}" if level.shift != IDENTITY else ""
            reduce = f"/{level.reduce}" if level.reduce != IDENTITY else ""
            parts.append(f" ({(level.category + shift + reduce).replace(' ', '_')}")
        parts.append(f" {word}")
        depth, before = len(stack) // 2, stack
    return "".join([*parts, ")" * depth]).strip()
