"""Rules P → C_1 … C_d by number, looked up by a hash of their symbols.

The first numbers stand for unknown rules: the number of the symbol P for all unknown rules P → … As with words
(vocabulary/word_hash.py), equal 64-bit hashes count as equal rules; the known rules are checked for collisions when the
table is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from rerank_plugins import IntArray, LongArray, ModelError
from rerank_plugins.kit.files.declared import Array, Contents, Offsets, Stored, read_fields
from rerank_plugins.kit.kernels import filling_kernel, part
from rerank_plugins.kit.vocabulary.word_hash import EMPTY, FACTOR, START, slot_of
from rerank_plugins.treelet.tree_arrays import Symbols, TreeArrays, siblings


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
    def table(self) -> LongArray:
        """(size, 2) a hash table of the hashes and numbers of rules. Raises ModelError if two hashes are equal."""
        size = 16
        while size < 2 * len(self):
            size *= 2
        table = np.zeros((size, 2), np.int64)
        if not fill_rules(self.starts, self.symbols, self.unknown, table):
            raise ModelError("two rules of the model have the same hash, or the model has a rule twice")
        return table

    def find(self, starts: LongArray, symbols: IntArray) -> IntArray:
        """(n) the numbers of n rules, whose `starts` and `symbols` are laid out as those of this object."""
        numbers = np.zeros(len(starts) - 1, np.int32)
        find_rules(starts, symbols, self.table, numbers)
        return numbers


def rules_of(forest: TreeArrays) -> tuple[LongArray, LongArray, IntArray]:
    """(n) the nodes of the phrases, in order, and their rules as (n + 1) starts and symbols."""
    phrases = np.flatnonzero(forest.word < 0)
    children = np.bincount(forest.parent[forest.parent >= 0], minlength=len(forest.parent))
    starts = np.concatenate([[0], np.cumsum(children[phrases] + 1)]).astype(np.int64)
    symbols = np.empty(int(starts[-1]), np.int32)
    first, following = siblings(forest.parent)
    copy_rules(forest.symbol, first, following, phrases, symbols)
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
        symbols = Array("F").read(IntArray, "rule_symbols", contents)
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
        keys, first, counts = np.unique(keys_of(starts, symbols), return_index=True, return_counts=True)
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
        return np.searchsorted(self.keys, keys_of(starts, symbols))


def count_rules(blocks: Iterable[TreeArrays]) -> RuleCounts:
    """The distinct rules of the trees of all blocks. A rule is merged O(log blocks) times."""
    counted: list[RuleCounts] = []
    for forest in blocks:
        counted.append(RuleCounts.of(*rules_of(forest)[1:]))
        while len(counted) > 1 and 2 * len(counted[-1].keys) > len(counted[-2].keys):
            last = counted.pop()
            counted[-1] = counted[-1].plus(last)
    return reduce(RuleCounts.plus, counted)


def keys_of(starts: LongArray, symbols: IntArray) -> LongArray:
    """(n) the hash of each rule."""
    keys = np.empty(len(starts) - 1, np.int64)
    hash_rules(starts, symbols, keys)
    return keys


def selected(starts: LongArray, symbols: IntArray, rows: LongArray) -> tuple[LongArray, IntArray]:
    """The rules of these `rows`, as starts and symbols."""
    lengths = np.diff(starts)[rows]
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    return np.concatenate([[0], ends]), symbols[np.repeat(starts[rows], lengths) + within]


@filling_kernel
def copy_rules(symbol: Any, first: Any, following: Any, phrases: Any, symbols: Any) -> None:
    """Write the symbols of each phrase and its children, one rule after the other."""
    at = 0
    for node in phrases:
        symbols[at] = symbol[node]
        at += 1
        child = first[node]
        while child >= 0:
            symbols[at] = symbol[child]
            at += 1
            child = following[child]


@part
def hash_rule(symbols: Any, start: int, end: int) -> Any:
    """The FNV-1a hash of whole symbols; the bits are mixed at the end, because symbols are small numbers."""
    key = np.uint64(START)
    for i in range(start, end):
        key = (key ^ np.uint64(symbols[i] + 1)) * np.uint64(FACTOR)
    key = (key ^ (key >> np.uint64(32))) * np.uint64(FACTOR)
    mixed = np.int64(key ^ (key >> np.uint64(29)))
    return mixed if mixed != EMPTY else np.int64(1)


@filling_kernel
def hash_rules(starts: Any, symbols: Any, keys: Any) -> None:
    """Write the hash of each rule into `keys`."""
    for rule in range(len(keys)):
        keys[rule] = hash_rule(symbols, starts[rule], starts[rule + 1])


@filling_kernel
def fill_rules(starts: Any, symbols: Any, unknown: int, table: Any) -> bool:
    """Insert all known rules into the hash table; return whether their hashes are distinct."""
    for rule in range(unknown, len(starts) - 1):
        slot = slot_of(table, hash_rule(symbols, starts[rule], starts[rule + 1]))
        if table[slot, 0] != EMPTY:
            return False
        table[slot, 0] = hash_rule(symbols, starts[rule], starts[rule + 1])
        table[slot, 1] = rule
    return True


@filling_kernel
def find_rules(starts: Any, symbols: Any, table: Any, numbers: Any) -> None:
    """Look up the number of each rule; an unknown rule has the number of its phrase."""
    for rule in range(len(numbers)):
        slot = slot_of(table, hash_rule(symbols, starts[rule], starts[rule + 1]))
        numbers[rule] = table[slot, 1] if table[slot, 0] != EMPTY else symbols[starts[rule]]
