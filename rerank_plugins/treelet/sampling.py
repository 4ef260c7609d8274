"""Random trees from a treelet model: yields are drawn from ROOT down, then words from left to right.

Drawing follows backoff/event_sampling.py. When a yield comes from the lowest order, one of the two 4-gram models is
chosen with probability λ, and generates children until STOP. Unknown labels and phrases without children, which no
treebank has, are rejected and drawn again, and so are signatures of unknown words, unless they are allowed. A tree
takes about a third of a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import ROOT, FloatArray, IntArray, ModelError, Tree
from rerank_plugins.kit.backoff.event_sampling import cumulated, draw_down, draw_event, seen_above
from rerank_plugins.kit.backoff.events import NONE
from rerank_plugins.kit.backoff.scoring import find_context
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import kernel
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE
from rerank_plugins.treelet.events import START_WORD
from rerank_plugins.treelet.model import TreeletModel
from rerank_plugins.treelet.tree_arrays import EDGE, UNKNOWN_TAG

ATTEMPTS = 10_000  # trees rejected in a row before the lengths are considered impossible
TRIALS = 1_000  # draws of a yield or a word
LONGEST_YIELD = 1_000  # symbols


@dataclass(frozen=True, eq=False)
class TreeletSampler:
    """Draws trees of `shortest` to `longest` words; `unknown` is whether signatures of unknown words may occur.

    Longer and shorter trees are rejected, so the distribution of the others is unchanged.
    """

    model: TreeletModel
    shortest: int = 1
    longest: int = 100
    unknown: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(f"lengths from {self.shortest} to {self.longest}, wanted 1 <= shortest <= longest")

    def sample(self, number: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
        """Draw `number` sentences; the same state of `rng` gives the same sentences."""
        return [tree.words() for tree in self.sample_trees(number, rng)]

    def sample_trees(self, number: int, rng: np.random.Generator) -> list[Tree]:
        """Draw `number` trees; they are transformed if the model is one of transformed trees.

        Raises ModelError if ATTEMPTS trees in a row have other lengths.
        """
        trees: list[Tree] = []
        attempts = 0
        while len(trees) < number:
            attempts += 1
            tree = self._tree(rng)
            if tree is not None:
                trees.append(tree)
                attempts = 0
            elif attempts == ATTEMPTS:
                raise ModelError(
                    f"{ATTEMPTS} trees drawn in a row, none of them has {self.shortest} to {self.longest} words"
                )
        return trees

    @cached_property
    def _tables(self) -> dict[str, tuple[BackoffTables, FloatArray]]:
        model = self.model
        tables = {
            "rules": model.rule_tables,
            "words": model.word_tables,
            "given": model.yields.given_parent,
            "alone": model.yields.alone,
        }
        return {name: (table, cumulated(table)) for name, table in tables.items()}

    @cached_property
    def _signatures(self) -> frozenset[int]:
        words = enumerate(self.model.vocabulary.words)
        return frozenset(
            i for i, word in words if word == UNKNOWN_SIGNATURE or word.startswith(UNKNOWN_SIGNATURE + "-")
        )

    def _tree(self, rng: np.random.Generator) -> Tree | None:
        """Draw a tree; None if it is too long or too short."""
        symbols = self.model.symbols
        root = symbols.numbers()[0].get(ROOT)
        if root is None:
            raise ModelError("the model has no ROOT to draw trees from")
        nodes: list[tuple[int, int]] = []  # symbol and parent, in pre-order
        tags: list[tuple[int, int, int]] = []  # symbol, right sibling, rule above
        todo = [(root, -1, EDGE, NONE, NONE)]  # symbol, parent, right sibling; symbol and rule of the parent
        while todo:
            symbol, parent, right, above, rule_above = todo.pop()
            nodes.append((symbol, parent))
            if symbol >= symbols.first_tag:
                tags.append((symbol, right, rule_above))
                if len(tags) > self.longest:
                    return None
                continue
            rule, children = self._yield(symbol, above, rule_above, rng)
            here = len(nodes) - 1
            siblings = zip(children, [*children[1:], EDGE], strict=True)
            todo.extend(reversed([(child, here, after, symbol, rule) for child, after in siblings]))
        if len(tags) < self.shortest:
            return None
        return self._named(nodes, self._words(tags, rng))

    def _yield(self, symbol: int, above: int, rule_above: int, rng: np.random.Generator) -> tuple[int, list[int]]:
        """Draw the yield of a phrase: the number of the rule, and the children."""
        tables, sums = self._tables["rules"]
        contexts, events = tables.contexts, tables.events
        context = self._context(tables, (symbol, above, rule_above)[: tables.order - 1])
        path = np.zeros(tables.order + 1, np.int64)
        path[0] = context
        depth = 0
        rules = self.model.rules
        for trial in range(1, TRIALS * TRIALS):
            event, depth = draw_down(contexts, sums, path, depth, rng)
            rule, children = -1, []
            if event >= 0:
                rule = int(events[event]["symbol"])
                children = rules.children(rule) if rule >= rules.unknown else []
            while not children:  # from the lowest order; an unknown rule if the event was one
                children = self._lowest(symbol, rng)
                rule = int(rules.find(np.array([0, len(children) + 1]), np.array([symbol, *children], np.int32))[0])
                if event >= 0 and rule >= rules.unknown:
                    children = []
            seen = seen_above(contexts, events, path, depth, rule)
            if seen < 0:
                return rule, children
            depth = seen + 1 if trial % TRIALS else 0
        raise ModelError("no yield can be drawn: the model is damaged")

    def _lowest(self, symbol: int, rng: np.random.Generator) -> list[int]:
        """Draw children by the 4-gram models: one or more, without unknown labels."""
        with_parent = bool(rng.random() < self.model.yields.weight)
        tables, sums = self._tables["given" if with_parent else "alone"]
        while True:
            drawn = draw_children(
                tables.contexts, tables.children, tables.events, sums, symbol if with_parent else NONE, rng
            )
            if 0 < len(drawn) < LONGEST_YIELD and drawn.min() > UNKNOWN_TAG:
                children: list[int] = drawn.tolist()
                return children

    def _words(self, tags: list[tuple[int, int, int]], rng: np.random.Generator) -> list[int]:
        """Draw the words of the tags, from left to right."""
        tables, sums = self._tables["words"]
        path = np.zeros(tables.order + 1, np.int64)
        before, last = NONE, START_WORD
        words = []
        for tag, right, rule in tags:
            context = self._context(tables, (tag, right, rule, last, before)[: tables.order - 1])
            for _ in range(TRIALS):
                event = draw_event(tables.contexts, tables.events, sums, context, path, rng)
                word = int(tables.events[event]["symbol"])
                if self.unknown or word not in self._signatures:
                    break
            before, last = last, word
            words.append(word)
        return words

    def _context(self, tables: BackoffTables, symbols: tuple[int, ...]) -> int:
        """The longest known context of these symbols, of which the nearest comes first."""
        context = 0
        for symbol in symbols:
            longer = find_context(tables.contexts, tables.children, context, symbol) if symbol != NONE else -1
            if longer < 0:
                break
            context = int(longer)
        return context

    def _named(self, nodes: list[tuple[int, int]], words: list[int]) -> Tree:
        symbols, vocabulary = self.model.symbols, self.model.vocabulary.words
        children: list[list[Tree | str]] = [[] for _ in nodes]
        remaining = iter(reversed(words))
        for i in range(len(nodes) - 1, -1, -1):
            symbol, parent = nodes[i]
            if symbol >= symbols.first_tag:
                children[i].append(vocabulary[next(remaining)])
            tree = Tree(symbols.label(symbol), tuple(reversed(children[i])))
            if parent >= 0:
                children[parent].append(tree)
        return tree


@kernel
def draw_children(
    contexts: NDArray[Any], children: IntArray, events: NDArray[Any], sums: Any, parent: int, rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Draw symbols until STOP, at most LONGEST_YIELD, given the parent, or without it if that is NONE."""
    drawn = np.empty(LONGEST_YIELD, np.int32)
    path = np.zeros(8, np.int64)
    size = 0
    while size < LONGEST_YIELD:
        context = 0
        if parent != NONE:
            context = max(0, find_context(contexts, children, 0, parent))
        if parent == NONE or context > 0:
            for back in range(1, 4):
                symbol = drawn[size - back] if size - back >= 0 else EDGE
                longer = find_context(contexts, children, context, symbol)
                if longer < 0:
                    break
                context = longer
                if symbol == EDGE:
                    break
        event = draw_event(contexts, events, sums, context, path, rng)
        if events[event]["symbol"] == EDGE:
            break
        drawn[size] = events[event]["symbol"]
        size += 1
    return drawn[:size]
