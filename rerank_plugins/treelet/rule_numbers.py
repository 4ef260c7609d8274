"""Rules P → C_1 … C_d by number, looked up by a hash of their symbols.

The first numbers stand for unknown rules: the number of the symbol P for all unknown rules P → … As with words
(vocabulary/word_hash.py), equal 64-bit hashes count as equal rules; the known rules are checked for collisions when
they are first looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.kit.files.model_schema import Array, Contents, Offsets, Stored, read_fields
from rerank_plugins.treelet.tree_arrays import Symbols, TreeArrays, sequence_hashes


@dataclass(frozen=True, eq=False)
class Rules:
    """`symbols[starts[r] : starts[r + 1]]` are P, C_1, …, C_d of rule r; the first `unknown` rules have no symbols."""

    starts: LongArray
    symbols: IntArray
    unknown: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    def children(self, rule: int) -> list[int]:
        """The symbols C_1 … C_d of a rule."""
        symbols: list[int] = self.symbols[self.starts[rule] + 1 : self.starts[rule + 1]].tolist()
        return symbols

    @cached_property
    def _by_hash(self) -> tuple[LongArray, LongArray]:
        """The rising hashes of the rules with symbols, and their numbers. Raises ModelError if two hashes are equal."""
        keys = sequence_hashes(self.symbols, self.starts[self.unknown :])
        order = np.argsort(keys)
        keys = keys[order]
        if (keys[1:] == keys[:-1]).any():
            raise ModelError("two rules of the model have the same hash, or the model has a rule twice")
        return keys, order + self.unknown

    def find(self, starts: LongArray, symbols: IntArray) -> IntArray:
        """(n) the numbers of n rules, whose `starts` and `symbols` are laid out as those of this object."""
        keys, numbers = self._by_hash
        unknown = symbols[starts[:-1]]
        if not len(keys):
            return unknown
        wanted = sequence_hashes(symbols, starts)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, numbers[place], unknown).astype(np.int32)


def rules_of(forest: TreeArrays) -> tuple[LongArray, LongArray, IntArray]:
    """(n) the nodes of the phrases, in order, and their rules as (n + 1) starts and symbols."""
    phrases, roots = np.flatnonzero(forest.word < 0), np.count_nonzero(forest.parent < 0)
    children = np.bincount(forest.parent[forest.parent >= 0], minlength=len(forest.parent))
    starts = np.concatenate([[0], np.cumsum(children[phrases] + 1)]).astype(np.int64)
    symbols = np.empty(int(starts[-1]), np.int32)
    child = np.ones(len(symbols), np.bool_)
    child[starts[:-1]] = False
    symbols[~child] = forest.symbol[phrases]
    symbols[child] = forest.symbol[np.argsort(forest.parent, kind="stable")[roots:]]
    return phrases, starts, symbols


class StoredRules(Stored):
    """Annotates rules; a file has those with symbols. Before them comes the unknown rule of each of the S symbols."""

    def write(self, value: Rules, _name: str, contents: Contents) -> None:
        """Add the arrays of the rules."""
        contents.arrays.update(rule_starts=value.starts[value.unknown :], rule_symbols=value.symbols)

    def read(self, _hint: Any, name: str, contents: Contents) -> Rules:
        """Return the rules. Raises an error of DAMAGE."""
        unknown = len(read_fields(Symbols, contents))
        starts = Offsets("known", "F").read(LongArray, "rule_starts", contents)
        symbols = Array("F", below="S").read(IntArray, "rule_symbols", contents)
        rules = Rules(np.concatenate([np.zeros(unknown, np.int64), starts]), symbols, unknown)
        contents.agree(name, (unknown, len(rules)), ("S", "R"))
        return rules


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """The distinct rules of a corpus, by rising `keys` (hashes): `counts`, and `starts` and `symbols` as in `Rules`."""

    keys: LongArray
    counts: LongArray
    starts: LongArray
    symbols: IntArray

    @classmethod
    def of(cls, starts: LongArray, symbols: IntArray) -> RuleCounts:
        """The distinct rules among these."""
        keys, first, counts = np.unique(sequence_hashes(symbols, starts), return_index=True, return_counts=True)
        return cls(keys, counts, *selected(starts, symbols, first))

    def plus(self, other: RuleCounts) -> RuleCounts:
        """The distinct rules of both."""
        keys, first, inverse = np.unique(
            np.concatenate([self.keys, other.keys]), return_index=True, return_inverse=True
        )
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, inverse, np.concatenate([self.counts, other.counts]))
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return RuleCounts(keys, counts, *selected(starts, np.concatenate([self.symbols, other.symbols]), first))

    def numbered(self, size: int, min_count: int) -> tuple[Rules, IntArray]:
        """The rules that occur at least `min_count` times, by falling frequency, and the number of each distinct rule.

        `size` is the number of symbols; a rule without a number of its own has that of its phrase's symbol.
        """
        frequent = np.flatnonzero(self.counts >= min_count).tolist()
        row = {i: self.symbols[self.starts[i] : self.starts[i + 1]].tolist() for i in frequent}
        order = sorted(frequent, key=lambda i: (-self.counts[i], row[i]))
        number = self.symbols[self.starts[:-1]]
        number[order] = np.arange(size, size + len(order))
        ends = np.cumsum([len(row[i]) for i in order], dtype=np.int64)
        flat = np.array([symbol for i in order for symbol in row[i]], np.int32)
        return Rules(np.concatenate([np.zeros(size + 1, np.int64), ends]), flat, size), number

    def find(self, starts: LongArray, symbols: IntArray) -> LongArray:
        """(n) the index of each of n rules, all of which have been counted, among the distinct ones."""
        return np.searchsorted(self.keys, sequence_hashes(symbols, starts))


def count_rules(blocks: Iterable[TreeArrays]) -> RuleCounts:
    """The distinct rules of the trees of all blocks. A rule is merged O(log blocks) times."""
    counted: list[RuleCounts] = []
    for forest in blocks:
        counted.append(RuleCounts.of(*rules_of(forest)[1:]))
        while len(counted) > 1 and 2 * len(counted[-1].keys) > len(counted[-2].keys):
            last = counted.pop()
            counted[-1] = counted[-1].plus(last)
    return reduce(RuleCounts.plus, counted)


def selected(starts: LongArray, symbols: IntArray, rows: LongArray) -> tuple[LongArray, IntArray]:
    """The rules of these `rows`, as starts and symbols."""
    lengths = np.diff(starts)[rows]
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    return np.concatenate([[0], ends]), symbols[np.repeat(starts[rows], lengths) + within]
