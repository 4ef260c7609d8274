"""Grammars of a referential language model: each category has expressions, and each expression two relation labels.

An expression applies its shift relation when it begins, to the referent of the level above, and its reduce relation
when it ends (equation 18). In place of an expression there may be `{down}` or `{up}`: it stands for the words of every
label of the world's taxonomy, with the downward or the upward transition of that label as shift relation.

A sentence is one expression of the start category. A file has one expression on each line:

    start NP                                  # the category of sentences; default: the first one
    NP   -> Det Adj* Noun (PP | RC)*
    Adj  -> executable        ; shift EXECUTABLE
    Adj  -> not Adj           ; reduce NOT
    RC   -> containing NP     ; shift CONTAIN ; reduce CONTAIN' ; weight 2
    Step -> {down}

`#` begins a comment. Relations that are not given are IDENTITY. The expressions of a category that have the same shift
relation divide its probability by their weights, which are 1 unless given. A label with spaces stands in double quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rerank_plugins import ConfigError, FormatError, open_text
from rerank_plugins.core.errors import suggestion
from rerank_plugins.referential.expressions import Automaton, compile_expression, words_automaton
from rerank_plugins.referential.relations import IDENTITY
from rerank_plugins.referential.taxonomy import UP
from rerank_plugins.referential.world import World

DOWN_CLASS, UP_CLASS = "{down}", "{up}"
CLASSES = (DOWN_CLASS, UP_CLASS)


@dataclass(frozen=True)
class Expression:
    """An expression of a category: its automaton, or the class of labels it stands for, and its relations."""

    category: str
    automaton: Automaton | None
    labels: str = ""  # one of CLASSES, if there is no automaton
    shift: str = IDENTITY
    reduce: str = IDENTITY
    weight: float = 1.0
    line: int = 0


@dataclass(frozen=True)
class Grammar:
    """The expressions of all categories, in the order of the file `path`, and the category of sentences.

    Raises FormatError, at the line of the expression, for a category that is undefined, that begins with itself
    (no bounded number of levels would do), or whose expressions never end.
    """

    start: str
    expressions: tuple[Expression, ...]
    path: str = ""
    start_line: int | None = None

    def __post_init__(self) -> None:
        known = self.by_category
        if self.start not in known:
            message = f"undefined category {self.start!r}{suggestion(self.start, known)}"
            raise FormatError(message, path=self.path, line=self.start_line)
        for expression in self.expressions:
            for symbol in expression.automaton.symbols if expression.automaton else ():
                if symbol.is_category and symbol.name not in known:
                    raise self._wrong(expression, f"undefined category {symbol.name!r}{suggestion(symbol.name, known)}")
        self._refuse_left_recursion()
        for expression in self.expressions:
            if expression.category not in self.levels:
                raise self._wrong(expression, f"category {expression.category!r} never ends")

    @cached_property
    def by_category(self) -> dict[str, list[Expression]]:
        """The expressions of each category."""
        known: dict[str, list[Expression]] = {}
        for expression in self.expressions:
            known.setdefault(expression.category, []).append(expression)
        return known

    @cached_property
    def levels(self) -> dict[str, int]:
        """The smallest number of levels that each category needs to come to an end."""
        levels: dict[str, int] = {}
        for level in range(1, len(self.by_category) + 1):
            ended = [
                expression.category
                for expression in self.expressions
                if expression.category not in levels and _can_end(expression, levels)
            ]
            levels.update(dict.fromkeys(ended, level))
        return levels

    def check_depth(self, depth: int) -> None:
        """Raise ConfigError if no sentence fits in this number of levels."""
        if depth < self.levels[self.start]:
            needed = self.levels[self.start]
            raise ConfigError(f"a depth of {depth} levels, but a sentence of {self.path} takes {needed} or more")

    def check_labels(self, world: World) -> None:
        """Raise FormatError, at its line, for an expression with a relation that the world does not have."""
        for expression in self.expressions:
            for label in (expression.shift, expression.reduce):
                try:
                    world.transition(label)
                except ConfigError as error:
                    raise self._wrong(expression, str(error)) from None
            if expression.labels and world.taxonomy is None:
                raise self._wrong(expression, f"{expression.labels} needs a world with a taxonomy")

    def _refuse_left_recursion(self) -> None:
        firsts = {
            category: {name: expression for expression in expressions for name in _first_categories(expression)}
            for category, expressions in self.by_category.items()
        }
        finished: set[str] = set()

        def visit(category: str, path: tuple[str, ...]) -> None:
            for name, expression in firsts[category].items():
                if name in path:
                    chain = " > ".join([*path[path.index(name) :], name])
                    message = f"left recursion, {chain}: no number of levels is enough; use a repetition (* or +)"
                    raise self._wrong(expression, message)
                if name not in finished:
                    visit(name, (*path, name))
            finished.add(category)

        for category in firsts:
            visit(category, (category,))

    def _wrong(self, expression: Expression, message: str) -> FormatError:
        return FormatError(message, path=self.path, line=expression.line)


def _first_categories(expression: Expression) -> Iterator[str]:
    if expression.automaton:
        symbols = (expression.automaton.symbols[state // 2] for state in expression.automaton.initial)
        yield from (symbol.name for symbol in symbols if symbol.is_category)


def _can_end(expression: Expression, levels: dict[str, int]) -> bool:
    """Whether some path through the expression has only words and categories that come to an end."""
    automaton = expression.automaton
    if automaton is None:
        return True
    agenda, seen = list(automaton.initial), set(automaton.initial)
    while agenda:
        state = agenda.pop()
        symbol = automaton.symbols[state // 2]
        if symbol.is_category and symbol.name not in levels:
            continue
        if state % 2:
            return True
        after = [q for q in automaton.following[state] if q not in seen]
        seen.update(after)
        agenda += after
    return False


class States:
    """The states of all automata of a grammar, numbered; those of taxonomic labels are added when they are reached.

    `symbols[q]` is the word of a state, or its category if `category[q]`; `final[q]`, `following[q]` and `reduce[q]`
    are whether the state ends its expression, what can follow, and the reduce relation; `expression[q]` is the category
    and the shift relation of the expression, for trees.
    """

    def __init__(self, grammar: Grammar, labels: Sequence[str]) -> None:
        self.symbols: list[str] = []
        self.category: list[bool] = []
        self.final: list[bool] = []
        self.following: list[tuple[int, ...]] = []
        self.reduce: list[str] = []
        self.expression: list[tuple[str, str]] = []
        self.grammar = grammar
        self.initial = {id(e): self._add(e.automaton, e) for e in grammar.expressions if e.automaton}
        self._of_labels: dict[tuple[int, str], int] = {}
        self.all_labels = tuple(labels)
        self.labels_by_word: dict[str, list[str]] = {}
        for label in labels:
            self.labels_by_word.setdefault(label.split()[0], []).append(label)

    def of_label(self, expression: Expression, label: str) -> int:
        """The first state of the words of a taxonomic label, in place of `{down}` or `{up}`."""
        key = id(expression), label
        if key not in self._of_labels:
            (self._of_labels[key],) = self._add(words_automaton(tuple(label.split())), expression, label)
        return self._of_labels[key]

    def _add(self, automaton: Automaton, expression: Expression, label: str = "") -> tuple[int, ...]:
        base = len(self.symbols)
        shift = expression.shift if not label else UP + label if expression.labels == UP_CLASS else label
        for state, following in enumerate(automaton.following):
            symbol = automaton.symbols[state // 2]
            self.symbols.append(symbol.name)
            self.category.append(symbol.is_category)
            self.final.append(bool(state % 2))
            self.following.append(tuple(base + q for q in following))
            self.reduce.append(expression.reduce)
            self.expression.append((expression.category, shift))
        return tuple(base + q for q in automaton.initial)

    @cached_property
    def begins(self) -> dict[str, frozenset[str]]:
        """The words, and classes of labels, that each category can begin with."""
        begins: dict[str, frozenset[str]] = {}

        def of(category: str) -> frozenset[str]:
            if category not in begins:
                words: set[str] = set()
                for expression in self.grammar.by_category[category]:
                    if expression.automaton is None:
                        words.add(expression.labels)
                    for q in self.initial.get(id(expression), ()):
                        words |= of(self.symbols[q]) if self.category[q] else {self.symbols[q]}
                begins[category] = frozenset(words)
            return begins[category]

        for category in self.grammar.by_category:
            of(category)
        return begins

    def can_begin(self, category: str, word: str) -> bool:
        """Whether an expression of the category can begin with the word."""
        begins = self.begins[category]
        return word in begins or (word in self.labels_by_word and not begins.isdisjoint(CLASSES))

    @cached_property
    def words(self) -> frozenset[str]:
        """The vocabulary."""
        own = {word for word, is_category in zip(self.symbols, self.category, strict=True) if not is_category}
        if any(expression.labels for expression in self.grammar.expressions):
            own.update(word for labels in self.labels_by_word.values() for label in labels for word in label.split())
        return frozenset(own)


COMMENT = re.compile(r'"[^"]*"|(#.*)')
OPTIONS = ("shift", "reduce", "weight")


def read_grammar(path: Path) -> Grammar:
    """Read a grammar. Raises FormatError with the file and the line."""
    with open_text(path) as opened:
        lines = list(opened)
    start, start_line, expressions = "", None, []
    for number, raw in enumerate(lines, 1):
        line = COMMENT.sub(lambda match: "" if match[1] else match[0], raw).strip()
        if not line:
            continue
        try:
            if line.split()[0] == "start" and not re.search("->|→", line):
                start, start_line = " ".join(line.split()[1:]), number
            else:
                expressions.append(_expression(line, number))
        except RecursionError:
            raise FormatError("the brackets are nested too deeply", path=str(path), line=number) from None
        except ValueError as error:
            raise FormatError(str(error), path=str(path), line=number) from None
    if not expressions:
        raise FormatError("a grammar without expressions; wanted lines such as NP -> Det Noun", path=str(path))
    return Grammar(start or expressions[0].category, tuple(expressions), str(path), start_line)


def _expression(line: str, number: int) -> Expression:
    """The expression of a line. Raises ValueError, with the reason."""
    head, *settings = (part.strip() for part in re.split(r";(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", line))
    match = re.fullmatch(r"(\S+)\s*(?:->|→)\s*(.*)", head)
    if match is None:
        raise ValueError(f"found {head!r}, wanted CATEGORY -> EXPRESSION")
    category, text = match.groups()
    if not category[0].isupper():
        raise ValueError(f"category {category!r} must begin with a capital letter")
    options: dict[str, str] = {}
    for setting in settings:
        key, _, value = setting.partition(" ")
        if key not in OPTIONS or not value.strip() or key in options:
            raise ValueError(f"found {setting!r}, wanted shift LABEL, reduce LABEL or weight NUMBER, each once")
        options[key] = value.strip().strip('"')
    try:
        weight = float(options.get("weight", "1"))
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise ValueError(f"weight {options['weight']!r}, wanted a positive number")
    labels = text if text in CLASSES else ""
    if labels and "shift" in options:
        raise ValueError(f"{labels} brings its own shift relations")
    if re.fullmatch(r"\{\w+\}", text) and not labels:
        raise ValueError(f"unknown {text}, wanted {' or '.join(CLASSES)}")
    automaton = None if labels else compile_expression(text)
    shift, reduce = options.get("shift", IDENTITY), options.get("reduce", IDENTITY)
    return Expression(category, automaton, labels, shift, reduce, weight, number)
