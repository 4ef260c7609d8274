"""Aligns a hypothesis with a reference, which may have alternatives and optional words (texts/transcript.py).

A reference is a network: each arc has a unit (a word, or a character for CER), and each way through it is a reference;
a plain text has one way. The cheapest alignment with any way is found by dynamic programming over arcs and units, as
sclite does (SCTK 2.4.10, net_dp.c), with its costs and its choice among equally cheap ones: the last step that differs
is a match or a substitution, then an insertion, then a deletion. An optional word that is missing counts as correct;
the empty alternative counts nothing. The length of the reference is that of the way chosen.

Time and memory are O(arcs · units), times the number of arcs that lead to one node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.metrics.alignment import DELETION, INSERTION, OPERATIONS, Alignment, Costs
from rerank_adapters.texts.transcript import Piece, Sign, Transcript
from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray

# The costs of a substitution, of an insertion or deletion, of leaving out an optional word, and of the empty word, and
# more than any alignment costs. sclite adds in single precision, which decides between equally cheap ways. With
# Levenshtein's costs, any number of words that count nothing costs less than an error.
NETWORK_COSTS: dict[Costs, FloatArray] = {
    "sclite": np.array([4, 3, 2, 0.001, 1e30], np.float32),
    "levenshtein": np.array([1 << 20, 1 << 20, 2, 1, 1 << 50], np.float64),
}
Split = Callable[[str], Sequence[str]]
WORD, MISSING, NONE = 0, 1, 2  # kinds of arcs: a unit, a unit that may be missing, the empty word
FIRST_ARC = 0  # the arc before all others, which has no unit


@dataclass(frozen=True)
class Network:
    """Arcs in topological order after `FIRST_ARC`: units, kinds and the arcs before each; `final` ends the ways."""

    units: tuple[str, ...]
    kinds: tuple[int, ...]
    before: tuple[tuple[int, ...], ...]
    final: tuple[int, ...]

    @classmethod
    def of(cls, text: str, split: Split = str.split) -> Network:
        """The network of a transcript, or of any other text; `split` gives the units of a run of words."""
        if not isinstance(text, Transcript):
            return cls.line(split(text))
        builder = _Builder(text.pieces, split)
        final = builder.sequence((FIRST_ARC,))
        return cls(tuple(builder.units), tuple(builder.kinds), tuple(builder.before), final)

    @classmethod
    def line(cls, units: Sequence[str]) -> Network:
        """The network of some units one after another."""
        arcs = range(len(units))
        return cls(("", *units), (NONE, *(WORD for _ in arcs)), ((), *((arc,) for arc in arcs)), (len(units),))


class _Builder:
    """Reads the pieces of a transcript from left to right, as arcs."""

    def __init__(self, pieces: Sequence[Piece], split: Split) -> None:
        self.units, self.kinds, self.before = [""], [NONE], [()]  # type: list[str], list[int], list[tuple[int, ...]]
        self._pieces, self._at, self._split = pieces, 0, split

    def sequence(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        """Read up to the end of an alternative, after the arcs `ends`; return the arcs that it ends with."""
        kind = WORD
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            if piece in (Sign.OR, Sign.CLOSE):
                break
            self._at += 1
            if piece is Sign.OPEN:
                ends = self._alternatives(ends)
            elif piece is Sign.EMPTY:
                ends = self._arc("", NONE, ends)
            elif isinstance(piece, Sign):
                kind = MISSING if piece is Sign.OPTIONAL else WORD
            else:
                for unit in self._split(piece):
                    ends = self._arc(unit, kind, ends)
        return ends

    def _alternatives(self, ends: tuple[int, ...]) -> tuple[int, ...]:
        found: tuple[int, ...] = ()
        closed = False
        while not closed:
            found += self.sequence(ends)
            closed = self._pieces[self._at] is Sign.CLOSE
            self._at += 1
        return tuple(dict.fromkeys(found))

    def _arc(self, unit: str, kind: int, before: tuple[int, ...]) -> tuple[int, ...]:
        self.units.append(unit)
        self.kinds.append(kind)
        self.before.append(before)
        return (len(self.units) - 1,)


class NetworkAligner:
    """Aligns hypotheses with one reference."""

    def __init__(self, reference: Network, costs: Costs) -> None:
        self.network = reference
        self._costs = NETWORK_COSTS[costs]
        self._number: dict[str, int] = {}
        self._arrays = _arrays(self.network, self._number)

    def steps(self, hypothesis: Network) -> LongArray:
        """(steps, 3): an index of `OPERATIONS`, an arc of the reference and a unit of the hypothesis, -1 for none."""
        from rerank_adapters.metrics.network_kernel import aligned_steps  # loads numba, at the first alignment

        numbers = np.array([self._number.get(unit, -2) for unit in hypothesis.units], np.int32)
        kinds = np.array(hypothesis.kinds, np.int32)
        return aligned_steps(numbers[1:], kinds[1:], *self._arrays, self._costs)

    def counts(self, hypothesis: Network) -> tuple[int, int]:
        """The errors of a hypothesis and the length of the way that it is aligned with."""
        correct, substituted, deleted, inserted = np.bincount(self.steps(hypothesis)[:, 0], minlength=4).tolist()
        return substituted + deleted + inserted, correct + substituted + deleted

    def align(self, hypothesis: Network) -> Alignment:
        """The alignment; in place of an optional word that is missing stands an empty text."""
        steps = [(OPERATIONS[code], arc, unit) for code, arc, unit in self.steps(hypothesis).tolist()]
        units, words = self.network.units, hypothesis.units[1:]
        return Alignment(
            "".join(operation for operation, _, _ in steps),
            tuple(_unit(units, arc, operation, INSERTION) for operation, arc, _ in steps),
            tuple(_unit(words, unit, operation, DELETION) for operation, _, unit in steps),
        )


def _unit(units: Sequence[str], position: int, operation: str, lacks: str) -> str | None:
    if position >= 0:
        return units[position]
    return None if operation == lacks else ""


def _arrays(network: Network, number: dict[str, int]) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """The units as numbers, the kinds, the starts of the arcs before each arc, these arcs, and the final ones."""
    units = np.array([number.setdefault(unit, len(number)) for unit in network.units], np.int32)
    starts = np.cumsum([0, *(len(arcs) for arcs in network.before)]).astype(np.int32)
    before = np.array([arc for arcs in network.before for arc in arcs], np.int32)
    return units, np.array(network.kinds, np.int32), starts, before, np.array(network.final, np.int32)
