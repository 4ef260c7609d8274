"""Reads test suites of targeted syntactic evaluation in SyntaxGym's JSON (Gauthier et al. 2020).

A suite has items; an item has variants of one sentence, one for each condition, and each variant is divided into
regions of words. Predictions compare the surprisals of regions: see formulas.py. SyntaxGym's `region_meta` is ignored,
and its files of surprisals are not supported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.acceptability.suites.formulas import Formula, parse_formula
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import display_name, open_text

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
