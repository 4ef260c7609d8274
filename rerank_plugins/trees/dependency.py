"""Dependency trees and CoNLL-U: a tree over exactly the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rerank_plugins.errors import FormatError


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Word i (from 0) has head `heads[i]` (from 0; -1 for the root) by relation `relations[i]`; `tags` are UPOS.

    >>> DependencyTree(("dogs", "bark"), (1, -1), ("nsubj", "root")).children(-1)
    [1]
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def children(self, head: int) -> list[int]:
        """Dependents of a word (-1: of the root symbol), in sentence order."""
        return [i for i, h in enumerate(self.heads) if h == head]


def read_conllu(lines: Iterable[str], path: str = "<conllu>") -> Iterator[DependencyTree]:
    """Trees of a CoNLL-U file. Multi-word token lines (1-2) and empty nodes (1.1) are passed over.

    Raises FormatError (file and line) for a wrong number of columns, a head that is no number or not in the
    sentence, several roots or none, and cycles.
    """
    rows: list[list[str]] = []
    start = number = 0
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if not line.strip():
            if rows:
                yield _tree(rows, path, start)
            rows = []
        elif not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) < 8:
                wanted = f"expected 10 tab-separated CoNLL-U columns (at least 8), found {len(columns)}"
                raise FormatError(wanted, path=path, line=number)
            start = start if rows else number
            if columns[0].isdigit():
                rows.append(columns)
    if rows:
        yield _tree(rows, path, start)


def _tree(rows: list[list[str]], path: str, line: int) -> DependencyTree:
    try:
        heads = tuple(int(row[6]) - 1 for row in rows)
    except ValueError:
        found = next(row[6] for row in rows if not row[6].isdigit())
        raise FormatError(f"head {found!r} is not a number (column 7)", path=path, line=line) from None
    roots = heads.count(-1)
    if roots != 1:
        raise FormatError(f"a sentence has one root (head 0); found {roots}", path=path, line=line)
    for word, head in enumerate(heads):
        if not -1 <= head < len(heads):
            outside = f"head {head + 1} of word {word + 1} is outside the sentence"
            raise FormatError(outside, path=path, line=line)
        steps = 0
        while head != -1 and steps <= len(heads):
            head, steps = heads[head], steps + 1
        if head != -1:
            raise FormatError(f"word {word + 1} is in a cycle of heads", path=path, line=line)
    words, tags, relations = (tuple(row[c] for row in rows) for c in (1, 3, 7))
    return DependencyTree(words, heads, relations, tags)


def write_conllu(tree: DependencyTree) -> str:
    """The tree as a CoNLL-U block, blank line included; columns that are not known hold `_`."""
    tags = tree.tags or ("_",) * len(tree.words)
    rows = zip(tree.words, tags, tree.heads, tree.relations, strict=True)
    lines = [f"{i}\t{w}\t_\t{t}\t_\t_\t{h + 1}\t{r}\t_\t_\n" for i, (w, t, h, r) in enumerate(rows, 1)]
    return "".join(lines) + "\n"
