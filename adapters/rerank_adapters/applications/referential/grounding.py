"""Writes sentences with the referents of their words, as lines of a table, as JSON objects and as trees."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from rerank_plugins.referential.model import Grounding, Level, ReferentialModel, ground

COLUMNS = ("sentence", "position", "word", "surprisal", "referent", "levels")


class GroundedLine(NamedTuple):
    """A sentence: the number of its line (from 1), ln p of its words and of its end, and its best hypothesis."""

    line: int
    ln_p: tuple[float, ...]
    grounding: Grounding


def ground_lines(model: ReferentialModel, lines: Iterable[str]) -> Iterator[GroundedLine]:
    """The best hypothesis of each line that has words."""
    for number, line in enumerate(lines, 1):
        state, ln_p = model.start(), []
        for word in line.split():
            value, state = model.advance(state, word)
            ln_p.append(value)
        if ln_p:
            yield GroundedLine(number, (*ln_p, model.finish(state)), ground(model, state))


def as_table(model: ReferentialModel, grounded: Iterable[GroundedLine], most: int) -> Iterator[str]:
    """A tab-separated line for each word, header first, and one for `</s>` with the final referent.

    Cells are empty for a word that no hypothesis could read. The referent is that of the deepest level.
    """
    grounded = iter(grounded)
    first = list(islice(grounded, 1))  # before the header is written: if the model cannot be read, nothing is
    yield "\t".join(COLUMNS) + "\n"
    for line, ln_p, (words, _, referent, _) in chain(first, grounded):
        for position, ((word, levels), value) in enumerate(zip(words, ln_p, strict=False), 1):
            deepest = model.world.describe(levels[-1].referent, most) if levels else ""
            stack = " > ".join(
                f"{level.category} {model.world.describe(level.referent, most)}" for level in levels or ()
            )
            yield "\t".join((str(line), str(position), word, _bits(value), deepest, stack)) + "\n"
        final = model.world.describe(referent, most)
        yield "\t".join((str(line), str(len(ln_p)), "</s>", _bits(ln_p[-1]), final, "")) + "\n"


def as_json(model: ReferentialModel, grounded: Iterable[GroundedLine], most: int) -> Iterator[str]:
    """A JSON object for each sentence, on a line: its words with their levels, the final referent, and the tree."""

    def described(referent: int) -> dict[str, Any]:
        members = model.world.members(referent)
        return {"size": len(members), "members": members[: most or None]}

    def level(of: Level) -> dict[str, Any]:
        return {**of._asdict(), "referent": described(of.referent)}

    for line, ln_p, (words, complete, referent, tree) in grounded:
        record = {
            "sentence": line,
            "words": [
                {"word": word, "ln_p": value, "levels": None if levels is None else [level(of) for of in levels]}
                for (word, levels), value in zip(words, ln_p, strict=False)
            ],
            "ln_p": sum(ln_p),
            "complete": complete,
            "referent": described(referent),
            "tree": tree,
        }
        yield json.dumps(record, ensure_ascii=False) + "\n"


def as_trees(model: ReferentialModel, grounded: Iterable[GroundedLine], most: int) -> Iterator[str]:
    """A line for each sentence: its tree, a tab, and its final referent."""
    for _, _, (_, _, referent, tree) in grounded:
        yield f"{tree}\t{model.world.describe(referent, most)}\n"


def _bits(ln_p: float) -> str:
    return f"{0.0 - ln_p / math.log(2):.6g}"
