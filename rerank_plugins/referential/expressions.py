"""Compiles regular expressions over categories and words to automata over their positions (Glushkov 1961).

    NP  ->  Det Adj* Noun (PP | RC)*

Symbols follow one another; `|` separates alternatives, `*`, `+` and `?` repeat what is before them, parentheses group.
A name that begins with a capital letter is a category; everything else, and everything in double quotes, is a word.

In the hierarchic model a state either ends its expression or does not (equation 10), so that a position at which
the expression may end or go on has two states, one of each kind. A state is 2 · position, plus 1 if it is final.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(r'\s*(?:"([^"]+)"|([()|*+?])|(\{\w+\})|([^\s()|*+?{}"]+))')


class Symbol(NamedTuple):
    """A word, or a category."""

    name: str
    is_category: bool


class Automaton(NamedTuple):
    """The symbol of each position, the states in which an expression can begin, and those that can follow each."""

    symbols: tuple[Symbol, ...]
    initial: tuple[int, ...]
    following: tuple[tuple[int, ...], ...]  # by state


class _Part(NamedTuple):
    """A part of an expression: whether it can be empty, and the positions where it can begin and end."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


def compile_expression(text: str) -> Automaton:
    """The automaton of an expression.

    Raises ValueError, with the reason, for one that is not well formed or that matches no words.

    >>> compile_expression("the Adj* file").initial
    (0,)
    >>> compile_expression("Noun+").following
    ((0, 1), ())
    """
    tokens = list(_tokens(text))
    builder = _Builder(tokens)
    whole = builder.alternatives()
    if builder.at < len(tokens):
        raise ValueError(f"unexpected {tokens[builder.at][0]!r}")
    if whole.empty:
        raise ValueError("the expression can be empty; wanted one that has at least one word")

    def states(places: frozenset[int]) -> tuple[int, ...]:
        numbers = (
            state
            for place in sorted(places)
            for state, exists in ((2 * place, builder.follow[place]), (2 * place + 1, place in whole.last))
            if exists
        )
        return tuple(numbers)

    following = (after for follow in builder.follow for after in (states(frozenset(follow)), ()))
    return Automaton(tuple(builder.symbols), states(whole.first), tuple(following))


def words_automaton(words: tuple[str, ...]) -> Automaton:
    """The automaton of a sequence of words."""
    last = len(words) - 1
    states = [2 * place + (place == last) for place in range(len(words))]
    following: list[tuple[int, ...]] = []
    for place in range(len(words)):
        following += [(states[place + 1],) if place < last else (), ()]
    return Automaton(tuple(Symbol(word, False) for word in words), (states[0],), tuple(following))


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """The operators and symbols of an expression; whether each is a symbol in quotes or not."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"cannot read {text[at:].strip()!r}")
        at = match.end()
        quoted, operator, braces, name = match.groups()
        if braces:
            raise ValueError(f"{braces} must be the whole expression")
        yield (operator, False) if operator else (quoted or name, bool(quoted))


class _Builder:
    """Reads the tokens by recursive descent."""

    def __init__(self, tokens: list[tuple[str, bool]]) -> None:
        self.tokens, self.at = tokens, 0
        self.symbols: list[Symbol] = []
        self.follow: list[set[int]] = []

    def _next(self) -> str:
        if self.at == len(self.tokens):
            return ""
        token, quoted = self.tokens[self.at]
        return "word" if quoted or token not in ("(", ")", "|", "*", "+", "?") else token

    def alternatives(self) -> _Part:
        """Read sequences separated by `|`."""
        part = self._sequence()
        while self._next() == "|":
            self.at += 1
            other = self._sequence()
            part = _Part(part.empty or other.empty, part.first | other.first, part.last | other.last)
        return part

    def _sequence(self) -> _Part:
        part = self._repeated()
        while self._next() in ("word", "("):
            other = self._repeated()
            for place in part.last:
                self.follow[place] |= other.first
            part = _Part(
                part.empty and other.empty,
                part.first | (other.first if part.empty else frozenset()),
                other.last | (part.last if other.empty else frozenset()),
            )
        return part

    def _repeated(self) -> _Part:
        part = self._single()
        while (operator := self._next()) in ("*", "+", "?"):
            self.at += 1
            if operator != "?":
                for place in part.last:
                    self.follow[place] |= part.first
            part = part._replace(empty=part.empty or operator != "+")
        return part

    def _single(self) -> _Part:
        kind = self._next()
        if kind == "(":
            self.at += 1
            part = self.alternatives()
            if self._next() != ")":
                raise ValueError("a parenthesis is not closed")
            self.at += 1
            return part
        if kind != "word":
            raise ValueError(f"expected a word or a category, found {kind or 'the end'!r}")
        name, quoted = self.tokens[self.at]
        self.at += 1
        self.symbols.append(Symbol(name, not quoted and name[0].isupper()))
        self.follow.append(set())
        place = frozenset([len(self.symbols) - 1])
        return _Part(False, place, place)
