"""The best hypothesis of a sentence, read out of the beam: the referents of its words, and its tree.

The hypothesis is the one whose whole derivation has the highest probability; it is followed back from the last word, so
that the referents of early words are those that the later words confirm.
"""

from __future__ import annotations

from typing import NamedTuple

from rerank_plugins.referential.beam import Beam
from rerank_plugins.referential.model import ReferentialModel
from rerank_plugins.referential.relations import IDENTITY
from rerank_plugins.referential.transitions import Stack


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
