"""The contract of formats: lists with an id and at least one hypothesis, whose values have their types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from rerank_plugins.core.guests.arrays import several, type_of
from rerank_plugins.core.guests.calls import Call
from rerank_plugins.core.guests.names import shown
from rerank_plugins.core.nbest import Hypothesis, NBestList


def read(call: Call) -> Callable[[Any], Any]:
    """The check of the lists of a file, one after the other."""
    number, before = 0, ""

    def check(value: Any) -> Any:
        nonlocal number, before
        number += 1
        if not isinstance(value, NBestList):
            raise call.wanted(type_of(value), "an NBestList", f"list {number}")
        id_ = value.segment_id
        if not isinstance(id_, str) or not id_:
            raise call.wanted(f"{shown(id_)} as the id of a segment", "a text (str)", f"list {number}")
        if before == id_:
            raise call.wanted("two lists in a row", "one list of all hypotheses", f"segment {id_}")
        before = id_
        _list(call, value, f"segment {id_}")
        return value

    return check


def _list(call: Call, nbest: NBestList, where: str) -> None:
    if not len(nbest.hypotheses):
        raise call.wanted("a list without hypotheses", "one hypothesis or more", where)
    names = nbest.feature_names
    if not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
        raise call.wanted(f"feature names {shown(names)}", "a tuple of texts", where)
    if len(set(names)) < len(names):
        raise call.wanted(f"feature names {shown(names)}", "names that are all different", where)
    for name in ("source", "context"):
        text = getattr(nbest, name)
        if text is not None and not isinstance(text, str):
            raise call.wanted(f"{name} {shown(text)}", "a text, or None", where)
    if not isinstance(nbest.line, int):
        raise call.wanted(f"line {shown(nbest.line)}", "the number of a line", where)
    for row, hypothesis in enumerate(nbest.hypotheses):
        _hypothesis(call, hypothesis, names, f"{where}, hypothesis {row}")


def _hypothesis(call: Call, hypothesis: Any, names: tuple[str, ...], where: str) -> None:
    if not isinstance(hypothesis, Hypothesis):
        raise call.wanted(type_of(hypothesis), "a Hypothesis", where)
    for field in ("text", "raw"):
        text = getattr(hypothesis, field)
        if not isinstance(text, str):
            raise call.wanted(f"{field} {shown(text)}", "a text (str)", where)
    values = hypothesis.features
    if not isinstance(values, tuple) or len(values) != len(names):
        raise call.wanted(f"features that are {several(values)}", f"a tuple of {len(names)} numbers", where)
    for name, value in zip(names, values, strict=True):
        _number(call, value, f"{where}, feature {name!r}")
    if hypothesis.score is not None:
        _number(call, hypothesis.score, f"{where}, score")
    if not isinstance(hypothesis.sparse, Mapping):
        raise call.wanted(f"sparse features {shown(hypothesis.sparse)}", "numbers by name", where)
    for name, value in hypothesis.sparse.items():
        if not isinstance(name, str):
            raise call.wanted(f"the sparse feature {shown(name)}", "a name that is a text", where)
        _number(call, value, f"{where}, sparse feature {name!r}")


def _number(call: Call, value: Any, where: str) -> None:
    if not isinstance(value, Real) or not math.isfinite(value):
        raise call.wanted(shown(value), "a finite number (float)", where)


def write(call: Call) -> Callable[[Any], Any]:
    """The check of the lines of a list."""
    segment = getattr(call.given[0], "segment_id", "") if call.given else ""

    def check(value: Any) -> Any:
        if not isinstance(value, str):
            raise call.wanted(type_of(value), "a line of text (str)", f"segment {segment}")
        return value

    return check


def spelling(call: Call, value: Any) -> Any:
    """A text."""
    if not isinstance(value, str):
        raise call.wanted(type_of(value), "a text (str)")
    return value
