"""Which lists are tuned on, which are tested, and which text is the reference or the source of which lists.

The role of lists is in their file's name (`tune`, `dev`, `test`, …). A text belongs to the lists whose segments it has
a line for; where several lists have as many, it belongs to those whose 1-bests share its words (a reference) or have
lengths that vary as its own do (a source), line by line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rerank_adapters.formats.merging import is_number
from rerank_adapters.formats.references import References, read_references
from rerank_adapters.pipeline.starting.recognition import Lists
from rerank_plugins import ConfigError, FormatError

TUNE = {"tune", "tuning", "dev", "devel", "development", "valid", "validation", "val", "heldout"}
TEST = {"test", "tst", "eval", "evaluation", "blind"}
SOURCE = {"src", "source", "input"}
SAME = 0.2  # the share of words, beyond that by chance, from which two texts are versions of each other
SAMPLE = 300  # segments that are compared

Ask = Callable[[str, Sequence[str]], str | None]  # a question and its answers; None where nobody can be asked


@dataclass
class Set:
    """Lists of the same segments, with their references and their source; `role` is "tune" or "test"."""

    role: str
    lists: list[Lists]
    references: list[Path] = field(default_factory=list)
    source: Path | None = None
    name: str = ""


def sets_of(lists: Sequence[Lists], tune: Sequence[Path], test: Sequence[Path], ask: Ask) -> list[Set]:
    """The sets, that which is tuned on first; `tune` and `test` name files whose role is known.

    Raises ConfigError for files whose role is neither seen nor told.
    """
    roles = [_role(one.path, tune, test) for one in lists]
    if roles.count(None) == 1 and "tune" not in roles:
        roles[roles.index(None)] = "tune"
    for place, one in enumerate(lists):
        if roles[place] is None:
            roles[place] = ask(f"Are the lists of {one.path} tuned on, or tested?", ("tune", "test"))
        if roles[place] is None:
            raise ConfigError(f"{one.path}: are these lists tuned on, or tested? Name them with --tune or --test")
    sets: list[Set] = []
    for role, one in sorted(zip(roles, lists, strict=True), key=lambda pair: pair[0] != "tune"):
        assert role is not None  # asked above
        for other in sets:
            known = other.lists[0]
            if other.role == role and (role == "tune" or _versions(one, known)) and known.format == one.format:
                other.lists.append(one)
                break
        else:
            sets.append(Set(role, [one]))
    tests = [one for one in sets if one.role == "test"]
    for number, tested in enumerate(tests):
        name = "test" if len(tests) == 1 else tested.lists[0].path.name.partition(".")[0]
        taken = [other.name for other in tests[:number]]
        tested.name = f"{name}-{number + 1}" if name in taken else name
    return sets


def assign(texts: Sequence[Path], sets: Sequence[Set], sources: Sequence[Path], references: Sequence[Path]) -> None:
    """Give each text to a set, as a reference or the source; `sources` and `references` are texts of known kind.

    Lists that hold their transcripts are their own references. Raises FormatError for a text that fits no set, and for
    a second source of a set.
    """
    for text in [*references, *sources, *(path for path in texts if path not in (*references, *sources))]:
        fits = [(_fit(text, one), place) for place, one in enumerate(sets)]
        scores = [(fit[0] + fit[1] / 10 + _alike(text, sets[place]), fit, place) for fit, place in fits if fit]
        if not scores:
            sizes = ", ".join(f"{one.lists[0].path} has {len(one.lists[0].nbests)} segments" for one in sets)
            raise FormatError(f"has no line for each segment of any lists ({sizes})", path=str(text))
        _, (shared, _), place = max(scores)
        one = sets[place]
        is_source = text in sources or (text not in references and (shared < SAME or bool(_parts(text) & SOURCE)))
        if not is_source:
            one.references.append(text)
        elif one.source is None:
            one.source = text
        else:
            what = f"and {one.source} both look like the source of {one.lists[0].path}; name one with --reference"
            raise FormatError(what, path=str(text))
    for one in sets:
        if not one.references and len(one.lists) == 1 and _fit(one.lists[0].path, one):
            one.references.append(one.lists[0].path)


def _role(path: Path, tune: Sequence[Path], test: Sequence[Path]) -> str | None:
    if path in tune or path in test:
        return "tune" if path in tune else "test"
    parts = _parts(path)
    return "tune" if parts & TUNE else "test" if parts & TEST else None


def _parts(path: Path) -> set[str]:
    return set(re.split(r"[^a-z]+", path.name.lower()))


def _alike(text: Path, one: Set) -> float:
    """A little, if the text has the same name as the lists up to the first full stop."""
    return 0.05 if text.name.partition(".")[0] == one.lists[0].path.name.partition(".")[0] else 0.0


def _versions(one: Lists, other: Lists) -> bool:
    """Whether two lists are of the same segments."""
    return one.ids == other.ids and shared_words(one.firsts, other.firsts) >= SAME


def lines_of(path: Path, ids: Sequence[str]) -> list[str]:
    """The line of a text for each segment. Raises FormatError for a segment that has none."""
    return [texts[0] for texts in _text(path, ids).for_segments(ids)]


def _text(path: Path, ids: Sequence[str]) -> References:
    """A text, whose lines are matched by number where all ids are numbers: a check asks whether its lines have ids."""
    text = read_references([path])
    return replace(text, form="lines") if text.form == "auto" and all(map(is_number, ids)) else text


def _fit(path: Path, one: Set) -> tuple[float, float] | None:
    """The share of words and the correlation of lengths with the 1-bests; None for a text without the segments."""
    lists = one.lists[0]
    try:
        references = _text(path, lists.ids)
        lines = [texts[0] for texts in references.for_segments(lists.ids)]
    except FormatError:
        return None
    if references.form_for(lists.ids) == "lines" and len(references) != len(lists.ids):
        return None
    lengths = np.array([[len(line), len(best)] for line, best in zip(lines, lists.firsts, strict=True)], np.float64)
    varied = len(lengths) > 2 and (lengths.std(axis=0) > 0).all()
    return shared_words(lines, lists.firsts), float(np.asarray(np.corrcoef(lengths.T))[0, 1]) if varied else 0.0


def shared_words(texts: Sequence[str], others: Sequence[str]) -> float:
    """The mean share of words that a text has in common with that of the same place, less that with the next one.

    >>> shared_words(["a b", "c d"], ["a b", "c d"]), shared_words(["a b", "a b"], ["a b", "a b"])
    (1.0, 0.0)
    """
    bags, other_bags = ([Counter(text.lower().split()) for text in side[:SAMPLE]] for side in (texts, others))
    same = np.mean([_share(a, b) for a, b in zip(bags, other_bags, strict=True)])
    if len(bags) < 2:
        return float(same)
    return float(same - np.mean([_share(a, b) for a, b in zip(bags, [*other_bags[1:], other_bags[0]], strict=True)]))


def _share(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max(one.total(), other.total(), 1)
