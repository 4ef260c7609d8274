"""Test suites of targeted syntactic evaluation in SyntaxGym's JSON, and their formulas (Gauthier et al. 2020).

A suite has items; an item has variants of one sentence, one for each condition, and each variant is divided into
regions of words. Predictions are formulas over the surprisals of regions:

    [(6;%what_no-gap%) > (6;%that_no-gap%)] & [(7;%what_gap%) < (7;%that_gap%)]

`(7;%what_gap%)` is the surprisal of region 7 in the condition `what_gap`, `(*;%what_gap%)` that of all its regions.
Formulas may contain numbers and round or square brackets. The operators `+ -` bind most tightly, then `< > =`, then
`& |`; all are left-associative. Two values are equal (`=`) if they differ by at most 0.001 + 0.00001 · |right|, as in
SyntaxGym's program. SyntaxGym's `region_meta` is ignored, and its files of surprisals are not supported.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import display_name, open_text

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


# The functions that compute a region's surprisal from those of its words, by `metric`; that of an empty region is 0.
METRICS: dict[str, Callable[[FloatArray], float]] = {
    "sum": lambda bits: float(bits.sum()),
    "mean": lambda bits: float(bits.mean()) if len(bits) else 0.0,
    "median": lambda bits: float(np.median(bits)) if len(bits) else 0.0,
    "range": lambda bits: float(np.ptp(bits)) if len(bits) else 0.0,
    "max": lambda bits: float(bits.max(initial=0.0)),
    "min": lambda bits: float(bits.min()) if len(bits) else 0.0,
}


@dataclass(frozen=True)
class Item:
    """An item: for each condition the regions by number, in the order of the sentence."""

    number: str
    conditions: Mapping[str, Mapping[int, str]]


@dataclass(frozen=True)
class Suite:
    """A test suite: `metric` is one of METRICS."""

    name: str
    metric: str
    predictions: tuple[Formula, ...]
    items: tuple[Item, ...]


def read_suite(path: str | Path) -> Suite:
    """Read a suite.

    Raises FormatError, with the file and the item or formula, for a value that is missing or has the wrong type, and
    for a formula with a region or condition that an item lacks.
    """
    name = display_name(path)
    with open_text(path) as lines:
        text = "".join(lines)
    try:
        document = read_json(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg}", path=name, line=error.lineno) from None
    meta = _get(document, "meta", dict, name, "the suite")
    metric = _get(meta, "metric", str, name, "meta") if "metric" in meta else "sum"
    if metric not in METRICS:
        raise FormatError(f"the metric is {metric!r}, wanted one of {', '.join(METRICS)}", path=name)
    predictions = tuple(
        parse_formula(_get(prediction, "formula", str, name, "a prediction"), name)
        for prediction in _get(document, "predictions", list, name, "the suite")
    )
    items = tuple(
        _item(item, position, name) for position, item in enumerate(_get(document, "items", list, name, "the suite"), 1)
    )
    if not predictions or not items:
        raise FormatError(
            f"{len(predictions)} predictions and {len(items)} items, wanted one or more of each", path=name
        )
    for item in items:
        _check(item, predictions, name)
    return Suite(str(meta.get("name") or Path(name).stem), metric, predictions, items)


def _item(item: Any, position: int, name: str) -> Item:
    number = str(item.get("item_number", position)) if isinstance(item, dict) else str(position)
    where = f"item {number}"
    conditions: dict[str, dict[int, str]] = {}
    for condition in _get(item, "conditions", list, name, where):
        regions = _get(condition, "regions", list, name, where)
        contents = {
            _get(region, "region_number", int, name, where): _get(region, "content", str, name, where)
            for region in regions
        }
        conditions[_get(condition, "condition_name", str, name, where)] = contents
    return Item(number, conditions)


def _check(item: Item, predictions: Sequence[Formula], name: str) -> None:
    for formula in predictions:
        for number, condition in formula.regions:
            if condition not in item.conditions:
                existing = ", ".join(item.conditions) or "none"
                raise FormatError(
                    f"item {item.number} has no condition {condition!r} (it has: {existing}), which a formula names",
                    path=name,
                )
            if number is not None and number not in item.conditions[condition]:
                raise FormatError(
                    f"item {item.number} has no region {number} in condition {condition!r}, which a formula names",
                    path=name,
                )


def _get(table: Any, key: str, kind: type, name: str, where: str) -> Any:
    type_names = {dict: "a table", list: "a list", str: "text", int: "a number"}
    if not isinstance(table, dict) or key not in table:
        raise FormatError(f"{where} has no {key!r}: not a test suite of SyntaxGym", path=name)
    if not isinstance(table[key], kind):
        raise FormatError(f"{key!r} of {where} is {table[key]!r:.60}, wanted {type_names[kind]}", path=name)
    return table[key]
