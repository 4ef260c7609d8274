"""K-best lists of trees as text: one line `id ||| (ROOT …) ||| ln p` per tree, grouped by sentence, best tree first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from rerank_plugins.core.constituency_tree import Tree, read_trees, write_tree
from rerank_plugins.core.errors import FormatError

BAR = " ||| "


def write_scored(name: str, tree: Tree, log_probability: float) -> str:
    """The line of a tree, with its line end; ln p is written with enough digits that the same float64 is read back.

    >>> print(write_scored("3", Tree("X", (Tree("UH", ("oh",)),)), -2.5), end="")
    3 ||| (X (UH oh)) ||| -2.5
    """
    return f"{name}{BAR}{write_tree(tree)}{BAR}{log_probability!r}\n"


def is_bracketed(lines: Iterable[str]) -> tuple[bool, Iterator[str]]:
    """Whether a file holds bracketed trees (plain, or with ids and ln p), and all of its lines.

    The first line that is not blank decides.

    >>> is_bracketed(["", "( (S (VB Go)))"])[0], is_bracketed(["# sent_id = 1"])[0]
    (True, False)
    """
    remaining = iter(lines)
    consumed: list[str] = []
    for line in remaining:
        consumed.append(line)
        if line.strip():
            break
    first = consumed[-1].lstrip() if consumed else ""
    return first.startswith("(") or (BAR in first and not first.startswith("#")), chain(consumed, remaining)


def read_scored(lines: Iterable[str], path: str = "<trees>") -> Iterator[tuple[str, Tree, float]]:
    """The id, tree and ln p of each line. Plain bracketed trees are numbered from 1, and have ln p = 0.

    Raises FormatError (with file and line) for a line that has neither form.
    """
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if not line.strip():
            continue
        if BAR not in line:
            remaining = [line, *(text for _, text in numbered)]
            padded = [""] * (number - 1) + remaining  # errors then name the right line
            yield from ((str(i), tree, 0.0) for i, tree in enumerate(read_trees(padded, path), 1))
            return
        name, brackets, value = ([part.strip() for part in line.split(BAR)] + ["", ""])[:3]
        yield name, *_scored(brackets, value, path, number)


def _scored(brackets: str, value: str, path: str, line: int) -> tuple[Tree, float]:
    try:
        log_probability = float(value)
        (tree,) = read_trees([brackets], path)
    except ValueError:
        message = f"expected `id ||| one tree ||| ln p`, found {brackets[:40]!r} and {value!r}"
        raise FormatError(message, path=path, line=line) from None
    except FormatError as error:
        raise FormatError(error.message, path=path, line=line) from None
    return tree, log_probability
