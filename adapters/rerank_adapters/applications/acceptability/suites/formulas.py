"""The predictions of a test suite: formulas over the surprisals of regions (SyntaxGym; Gauthier et al. 2020).

    [(6;%what_no-gap%) > (6;%that_no-gap%)] & [(7;%what_gap%) < (7;%that_gap%)]

`(7;%what_gap%)` is the surprisal of region 7 in the condition `what_gap`, `(*;%what_gap%)` that of all its regions.
Formulas may contain numbers and round or square brackets. The operators `+ -` bind most tightly, then `< > =`, then
`& |`; all are left-associative. Two values are equal (`=`) if they differ by at most 0.001 + 0.00001 · |right|, as in
SyntaxGym's program. The parser works by recursive descent.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rerank_plugins.core.errors import FormatError

Region = tuple[int | None, str]  # number (None: all), condition
Values = Mapping[Region, float]  # surprisal of each region of an item
TOKEN = re.compile(r"\s*(?:\(\s*(\d{1,9}|\*)\s*;\s*%([^%]+)%\s*\)|(\d+(?:\.\d+)?)|(.))")
BRACKETS = {"(": ")", "[": "]"}
LEVELS = (("&", "|"), ("<", ">", "="), ("+", "-"))  # loosest first
KINDS = ("truth value", "truth value", "number")  # the type of the values of each level


def almost_equal(left: float, right: float) -> bool:
    """Whether two values are equal within the tolerance of SyntaxGym."""
    return abs(left - right) <= 1e-3 + 1e-5 * abs(right)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "&": lambda left, right: left and right,
    "|": lambda left, right: left or right,
    "<": operator.lt,
    ">": operator.gt,
    "=": almost_equal,
    "+": operator.add,
    "-": operator.sub,
}


@dataclass(frozen=True)
class Formula:
    """A prediction: its `text` in the file, the regions that it names, and the function that evaluates it."""

    text: str
    regions: tuple[Region, ...]
    _evaluate: Callable[[Values], Any]

    def __call__(self, values: Values) -> bool:
        """Whether the surprisals (bits) of an item's regions meet the prediction."""
        return bool(self._evaluate(values))


def parse_formula(text: str, path: str = "") -> Formula:
    """Parse a formula. Raises FormatError if it is malformed, with the text from the fault on, or has no truth value.

    >>> parse_formula("(1;%a%) + 1 < (1;%b%)")({(1, "a"): 2.0, (1, "b"): 3.5})
    True
    """
    parser = _Parser(text, path)
    evaluate, kind = parser.expression(0)
    if parser.token is not None:
        raise parser.error("the end")
    if kind != "truth value":
        raise FormatError(f"formula {text!r} is a number: nothing is compared", path=path)
    return Formula(text.strip(), tuple(dict.fromkeys(parser.regions)), evaluate)


class _Parser:
    """A parser with one token of lookahead, `token`: a region, a number, or a character; None at the end."""

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.regions: list[Region] = []
        self.start = 0
        self._tokens = self._scan()
        self.token: Region | float | str | None = next(self._tokens)

    def _scan(self) -> Iterator[Region | float | str | None]:
        end = len(self.text.rstrip())
        position = 0
        while position < end:
            match = TOKEN.match(self.text, position)
            assert match is not None  # its last alternative matches any character
            self.start, position = match.end() - len(match[0].lstrip()), match.end()
            number, condition, value, character = match.groups()
            if condition is not None:
                yield (None if number == "*" else int(number), condition.strip())
            else:
                yield character if value is None else float(value)
        self.start = end
        yield None

    def advance(self) -> None:
        self.token = next(self._tokens, None)

    def error(self, wanted: str) -> FormatError:
        rest = self.text[self.start :].strip()
        found = repr(rest) if rest else "the end"
        return FormatError(f"formula {self.text.strip()!r}: wanted {wanted}, found {found}", path=self.path)

    def expression(self, level: int) -> tuple[Callable[[Values], Any], str]:
        """Parse operands of the next level, joined by operators of this one; return a function and its type."""
        if level == len(LEVELS):
            return self.operand()
        left, kind = self.expression(level + 1)
        while isinstance(self.token, str) and self.token in LEVELS[level]:
            apply, wanted = OPERATORS[self.token], "truth value" if level == 0 else "number"
            start = self.start
            self.advance()
            right, right_kind = self.expression(level + 1)
            if (kind, right_kind) != (wanted, wanted):
                self.start = start
                raise self.error(f"a {wanted} on both sides of {self.text[start]!r}")
            left, kind = _joined(apply, left, right), KINDS[level]
        return left, kind

    def operand(self) -> tuple[Callable[[Values], Any], str]:
        token = self.token
        if isinstance(token, tuple):
            self.regions.append(token)
            self.advance()
            return lambda values: values[token], "number"
        if isinstance(token, float):
            self.advance()
            return lambda values: token, "number"
        if token not in BRACKETS:
            raise self.error("a region (NUMBER;%CONDITION%), a number or a bracket")
        assert isinstance(token, str)
        self.advance()
        inner = self.expression(0)
        if self.token != BRACKETS[token]:
            raise self.error(repr(BRACKETS[token]))
        self.advance()
        return inner


def _joined(
    apply: Callable[[Any, Any], Any], left: Callable[[Values], Any], right: Callable[[Values], Any]
) -> Callable[[Values], Any]:
    return lambda values: apply(left(values), right(values))
