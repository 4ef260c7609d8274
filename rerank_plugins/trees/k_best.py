"""K-best lists of trees as text: lines `id ||| (ROOT …) ||| ln p`, those of a sentence together, best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from rerank_plugins.errors import FormatError
from rerank_plugins.trees.constituency import Tree, read_trees, write_tree

BAR = " ||| "


def write_scored(name: str, tree: Tree, log_probability: float) -> str:
    """The line of a tree, line end included; ln p has as many digits as it takes to read the same number.

    >>> print(write_scored("3", Tree("X", (Tree("UH", ("oh",)),)), -2.5), end="")
    3 ||| (X (UH oh)) ||| -2.5
    """
    return f"{name}{BAR}{write_tree(tree)}{BAR}{log_probability!r}\n"


def is_bracketed(lines: Iterable[str]) -> tuple[bool, Iterator[str]]:
    """Whether a file holds brackets (plain, or with ids and ln p), by its first line with text; and all its lines.

    >>> is_bracketed(["", "( (S (VB Go)))"])[0], is_bracketed(["# sent_id = 1"])[0]
    (True, False)
    """
    rest = iter(lines)
    seen: list[str] = []
    for line in rest:
        seen.append(line)
        if line.strip():
            break
    first = seen[-1].lstrip() if seen else ""
    return first.startswith("(") or (BAR in first and not first.startswith("#")), chain(seen, rest)


def read_scored(lines: Iterable[str], path: str = "<trees>") -> Iterator[tuple[str, Tree, float]]:
    """Id, tree and ln p of each line; of plain brackets, where each tree is certain (ln 1), ids count the trees.

    Raises FormatError (file and line) for a line that has neither form.
    """
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if not line.strip():
            continue
        if BAR not in line:
            rest = [line, *(text for _, text in numbered)]
            padded = [""] * (number - 1) + rest  # so that errors name the right line
            yield from ((str(i), tree, 0.0) for i, tree in enumerate(read_trees(padded, path), 1))
            return
        name, brackets, value = ([part.strip() for part in line.split(BAR)] + ["", ""])[:3]
        yield name, *_scored(brackets, value, path, number)


def _scored(brackets: str, value: str, path: str, line: int) -> tuple[Tree, float]:
    try:
        score = float(value)
        (tree,) = read_trees([brackets], path)
    except ValueError:
        wanted = f"expected `id ||| one tree ||| ln p`, found {brackets[:40]!r} and {value!r}"
        raise FormatError(wanted, path=path, line=line) from None
    except FormatError as error:
        raise FormatError(error.message, path=path, line=line) from None
    return tree, score
