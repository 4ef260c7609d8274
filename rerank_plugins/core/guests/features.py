"""The contract of what features and parsers tell of themselves.

What features extract is checked where the values become columns, which have names (the plan of an extraction).
"""

from __future__ import annotations

import re
from typing import Any

from rerank_plugins.core.guests.arrays import type_of
from rerank_plugins.core.guests.calls import Call
from rerank_plugins.core.guests.language_models import by_word
from rerank_plugins.core.guests.names import shown
from rerank_plugins.core.interfaces import Parser
from rerank_plugins.core.trained_on import TrainedOn

UNFIT = re.compile(r"[\s=]")  # what separates names and values in files of lists and weights


def fault_of_components(names: Any) -> str | None:
    """What is wrong with the names of components, and what is wanted; None if nothing is.

    >>> fault_of_components(("total", "per word"))
    "found the component 'per word', wanted names without spaces and ="
    """
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        return f"components: found {type_of(names)}, wanted a tuple of texts"
    if not names:
        return 'found no components, wanted one name or more (("",) for a single value without a name)'
    if len(set(names)) < len(names):
        return f"found components {shown(names)}, wanted names that are all different"
    if "" in names and len(names) > 1:
        return f"found components {shown(names)}, wanted a name for each of several values"
    unfit = next((name for name in names if UNFIT.search(name)), None)
    return None if unfit is None else f"found the component {unfit!r}, wanted names without spaces and ="


def components(call: Call, value: Any) -> Any:
    """Names of the values."""
    if fault := fault_of_components(value):
        raise call.error(fault)
    return value


def vocabulary(call: Call, value: Any) -> Any:
    """None, or what knows its words."""
    if value is not None and not hasattr(value, "__contains__"):
        raise call.wanted(type_of(value), "None, or an object with __contains__")
    return value


def parsers(call: Call, value: Any) -> Any:
    """A tuple of parsers."""
    if not isinstance(value, tuple) or not all(isinstance(parser, Parser) for parser in value):
        raise call.wanted(type_of(value), "a tuple of Parsers")
    return value


def trained_on(call: Call, value: Any) -> Any:
    """What a parser was trained on."""
    if not isinstance(value, TrainedOn):
        raise call.wanted(type_of(value), "a TrainedOn")
    return value


def word_scores(call: Call, value: Any) -> Any:
    """None, or for each hypothesis a finite number for each word and perhaps one for its end."""
    return None if value is None else by_word(call, value, [hypothesis.words for hypothesis in call.given[0]])
