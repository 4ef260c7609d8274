"""The contract of trainers: they return a Trained, whose functions are code of the guest too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rerank_plugins.core.guests.arrays import type_of
from rerank_plugins.core.guests.calls import Call, guarded_call
from rerank_plugins.core.guests.names import shown
from rerank_plugins.core.interfaces import LanguageModel
from rerank_plugins.core.trainer import Trained


def train(call: Call, value: Any) -> Any:
    """A Trained, whose functions are guarded like methods."""
    if not isinstance(value, Trained):
        raise call.wanted(type_of(value), "a Trained")
    for name in ("save", "evaluate", "language_model"):
        function = getattr(value, name)
        if not callable(function) and (name == "save" or function is not None):
            raise call.wanted(f"{name} {shown(function)}", "a function")
    if isinstance(value.lines, str) or not hasattr(value.lines, "__iter__"):
        raise call.wanted(f"lines {shown(value.lines)}", "a list of texts")
    if not isinstance(value.what, str):
        raise call.wanted(f"what {shown(value.what)}", "a text")
    if getattr(call.given[0], "held_out", ()) and value.evaluate is None and value.language_model is None:
        raise call.wanted("neither evaluate nor language_model", "one of them, for the held-out files")
    return replace(
        value,
        save=_guarded(call, "save", value.save),
        lines=_lines(call, value.lines),
        evaluate=value.evaluate and _guarded(call, "evaluate", value.evaluate),
        language_model=value.language_model and _language_model(call, value.language_model),
    )


def _guarded(call: Call, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    here = call._replace(method=f"{call.method}, {name}")

    def guarded(*given: Any) -> Any:
        return guarded_call(here, lambda: function(*given))

    return guarded


def _lines(call: Call, lines: Any) -> Iterator[str]:
    here = call._replace(method=f"{call.method}, lines")
    iterator = guarded_call(here, lambda: iter(lines))
    while (line := guarded_call(here, lambda: next(iterator, None))) is not None:
        if not isinstance(line, str):
            raise here.wanted(type_of(line), "a line of text (str)")
        yield line


def _language_model(call: Call, function: Callable[..., Any]) -> Callable[..., Any]:
    load = _guarded(call, "language_model", function)

    def loaded() -> Any:
        model = load()
        if not isinstance(model, LanguageModel):
            raise call.wanted(f"language_model() = {shown(model)}", "a LanguageModel")
        return model

    return loaded
