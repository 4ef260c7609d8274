"""Test suites of targeted syntactic evaluation, in SyntaxGym's JSON (Gauthier et al. 2020).

A suite has items; an item says the same sentence in several conditions; in each, the sentence is cut into regions of
words. Predictions compare the surprisals of regions: see suite_formulas.py. Left out: SyntaxGym's `region_meta` beyond
the names, and files of surprisals.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.suites.formulas import Formula, parse_formula
from rerank_adapters.formats.compressed import display_name, open_text
from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import FormatError

# What a suite makes of the surprisals of a region's words, by the name in its `metric`; an empty region has 0.
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
    """An item: by condition, its regions by their numbers, in the order of the sentence."""

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
    """A suite from its file. Raises FormatError naming the file, and item or formula, for what is missing or of another
    kind: also where a formula names a region or condition that an item lacks.
    """
    name = display_name(path)
    with open_text(path) as lines:
        text = "".join(lines)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"no JSON: {error.msg}", path=name, line=error.lineno) from None
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
        raise FormatError(f"{len(predictions)} predictions and {len(items)} items, wanted some of both", path=name)
    for item in items:
        _check(item, predictions, name)
    return Suite(str(meta.get("name") or Path(name).stem), metric, predictions, items)


def _item(item: Any, position: int, name: str) -> Item:
    number = str(item.get("item_number", position)) if isinstance(item, dict) else str(position)
    where = f"item {number}"
    conditions: dict[str, dict[int, str]] = {}
    for condition in _get(item, "conditions", list, name, where):
        regions = _get(condition, "regions", list, name, where)
        found = {
            _get(region, "region_number", int, name, where): _get(region, "content", str, name, where)
            for region in regions
        }
        conditions[_get(condition, "condition_name", str, name, where)] = found
    return Item(number, conditions)


def _check(item: Item, predictions: Sequence[Formula], name: str) -> None:
    for formula in predictions:
        for number, condition in formula.regions:
            if condition not in item.conditions:
                has = ", ".join(item.conditions) or "none"
                raise FormatError(
                    f"item {item.number} has no condition {condition!r} (it has: {has}), which a formula names",
                    path=name,
                )
            if number is not None and number not in item.conditions[condition]:
                raise FormatError(
                    f"item {item.number} has no region {number} in condition {condition!r}, which a formula names",
                    path=name,
                )


def _get(table: Any, key: str, kind: type, name: str, where: str) -> Any:
    words = {dict: "a table", list: "a list", str: "text", int: "a number"}
    if not isinstance(table, dict) or key not in table:
        raise FormatError(f"{where} has no {key!r}: not a test suite of SyntaxGym", path=name)
    if not isinstance(table[key], kind):
        raise FormatError(f"{key!r} of {where} is {table[key]!r:.60}, wanted {words[kind]}", path=name)
    return table[key]
