"""Dependency trees over exactly the tokens of a sentence, and CoNLL-U files of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from rerank_plugins.core.errors import FormatError

Row = tuple[int, list[str]]  # the number of a line, and its columns


@dataclass(frozen=True, slots=True)
class DependencyTree:
    """Word i (from 0) depends on word `heads[i]` (-1: on the root symbol) by `relations[i]`; `tags` are UPOS tags.

    >>> DependencyTree(("dogs", "bark"), (1, -1), ("nsubj", "root")).children(-1)
    [1]
    """

    words: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def children(self, head: int) -> list[int]:
        """The dependents of a word (-1: of the root symbol), in sentence order."""
        return [i for i, h in enumerate(self.heads) if h == head]


class Fault(NamedTuple):
    """Why heads are not a tree: the first word (from 0) that shows it, and what is wrong."""

    word: int
    text: str


def tree_fault(heads: Sequence[int]) -> Fault | None:
    """The first reason why the heads (from 0; -1 for the root) are not a tree with one root; None if they are.

    >>> tree_fault((1, -1)), tree_fault((1, 0)).text
    (None, 'a sentence has one root (head 0); found 0')
    """
    for word, head in enumerate(heads):
        if not -1 <= head < len(heads):
            return Fault(word, f"head {head + 1} of word {word + 1} is outside the sentence")
    roots = [word for word, head in enumerate(heads) if head == -1]
    if len(roots) != 1:
        return Fault(roots[1] if roots else 0, f"a sentence has one root (head 0); found {len(roots)}")
    walk = [0] * len(heads) + [-1]  # the number of the walk up the heads that first met each word; the root is last
    for word in range(len(heads)):
        node = word
        while walk[node] == 0:
            walk[node] = word + 1
            node = heads[node]
        if walk[node] == word + 1:
            return Fault(word, f"word {word + 1} is in a cycle of heads, or below one")
    return None


def read_conllu(lines: Iterable[str], path: str = "<conllu>") -> Iterator[DependencyTree]:
    """The trees of a CoNLL-U file, one at a time. Multi-word token lines (1-2) and empty nodes (1.1) are skipped.

    Raises FormatError (with file and line) for a wrong number of columns, word numbers other than 1, 2, 3 …, a head
    that is not a number or not in the sentence, several roots or none, and cycles.
    """
    for sentence in read_conllu_lines(lines, path):
        yield sentence.tree


class ConlluSentence(NamedTuple):
    """A tree with the lines that it was read from."""

    tree: DependencyTree
    rows: list[Row]  # the line of each word
    others: list[str]  # the other lines: comments, multi-word tokens and empty nodes


def read_conllu_lines(lines: Iterable[str], path: str = "<conllu>") -> Iterator[ConlluSentence]:
    """The sentences of a CoNLL-U file with all their columns (8 or more). Raises FormatError as `read_conllu` does."""
    rows: list[Row] = []
    others: list[str] = []
    for number, line in enumerate(chain(lines, [""]), 1):
        line = line.rstrip("\r\n")
        if not line or line.isspace():
            if rows:
                yield ConlluSentence(_tree(rows, path), rows, others)
            rows, others = [], []
        elif line.startswith("#"):
            others.append(line)
        else:
            columns = line.split("\t")
            if len(columns) < 8:
                message = f"expected 10 tab-separated CoNLL-U columns (at least 8), found {len(columns)}"
                raise FormatError(message, path=path, line=number)
            if columns[0] == str(len(rows) + 1):
                rows.append((number, columns))
            elif _range_or_empty(columns[0]):
                others.append(line)
            else:
                message = f"expected word number {len(rows) + 1} (column 1), found {columns[0]!r}"
                raise FormatError(message, path=path, line=number)


def _range_or_empty(number: str) -> bool:
    """Whether the number in the first column is that of a multi-word token (1-2) or an empty node (1.1)."""
    parts = number.replace(".", "-", 1).split("-")
    return len(parts) == 2 and all(part.isdecimal() for part in parts)


def _tree(rows: Sequence[Row], path: str) -> DependencyTree:
    columns = list(zip(*[columns[:8] for _, columns in rows], strict=True))
    digits = "".join(columns[6])
    if "" in columns[6] or not (digits.isascii() and digits.isdecimal()):
        for (line, _), number, head in zip(rows, columns[0], columns[6], strict=True):
            if not (head.isascii() and head.isdecimal()):
                raise FormatError(f"head {head!r} of word {number} is not a number (column 7)", path=path, line=line)
    if len(digits) > 18 and (too_long := max(columns[6], key=len))[18:]:
        line = rows[columns[6].index(too_long)][0]
        raise FormatError(
            f"the head of a word is {too_long[:18]}…, expected a word of the sentence", path=path, line=line
        )
    heads = tuple([int(head) - 1 for head in columns[6]])
    fault = tree_fault(heads)
    if fault:
        raise FormatError(fault.text, path=path, line=rows[fault.word][0])
    return DependencyTree(columns[1], heads, columns[7], columns[3])


def write_conllu(tree: DependencyTree, comments: Mapping[str, str] | None = None) -> str:
    """The tree as a CoNLL-U block, with the blank line that ends it; columns without a value hold `_`.

    >>> print(write_conllu(DependencyTree(("Go",), (-1,), ("root",)), {"sent_id": "1"}), end="")
    # sent_id = 1
    1	Go	_	_	_	_	0	root	_	_
    <BLANKLINE>
    """
    tags = tree.tags or ("_",) * len(tree.words)
    rows = zip(tree.words, tags, tree.heads, tree.relations, strict=True)
    header = [f"# {name} = {value}\n" for name, value in (comments or {}).items()]
    lines = [f"{i}\t{w}\t_\t{t}\t_\t_\t{h + 1}\t{r}\t_\t_\n" for i, (w, t, h, r) in enumerate(rows, 1)]
    return "".join(header + lines) + "\n"
