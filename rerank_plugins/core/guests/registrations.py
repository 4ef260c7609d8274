"""Checks what a guest registers: its name, its factory, and the names of its options.

The tables of a config have keys of their own beside the options of a plugin, such as `text` for the text steps of a
feature. An option of that name would never reach the plugin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from rerank_plugins.core.contracts import type_of
from rerank_plugins.core.trainer import Reading, Trainer, Use, common_uses

OF_FEATURES = {
    "use": "the plugin",
    "label": "the name of the feature",
    "text": "the text steps of the hypotheses",
    "source_text": "the text steps of the sources",
}
RESERVED: Mapping[str, Mapping[str, str]] = {  # by kind, the keys of its tables and what they name
    "feature": OF_FEATURES,
    "language_model": OF_FEATURES,  # a language model is a feature too
    "parser": {"use": "the plugin"},
    "metric": {"use": "the plugin", "label": "the name of the metric", "text": "the text steps of the hypotheses"},
    "tuner": {"use": "the plugin", "margin": "how far another hypothesis must lead the first"},
    "format": {"use": "the plugin"},
    "trainer": {"paths": "the files to learn from", "output": "the model file", "help": "the help"},
}
OF_USES: Mapping[str, Sequence[str]] = {  # the common options of `rerank train NAME` by what a trainer `uses`
    **{name: (name,) for name in ("language", "seed", "jobs", "parser", "config")},
    "text": ("text", "steps"),
    "held-out": ("held_out",),
    "cluster": ("scheduler",),
}
NAME = re.compile(r"[^\s=,{}]+")


def fault_of_entry(kind: str, name: Any, factory: Any, options: Sequence[str]) -> str | None:
    """What is wrong with a registration of a guest, and what is wanted; None if nothing is.

    >>> fault_of_entry("feature", "rarity", dict, ["text"])
    "the option 'text' cannot be set: in tables of this kind the key names the text steps of the hypotheses; rename it"
    """
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return f"the name is {name!r}; wanted a word without spaces, commas, braces and ="
    if not callable(factory):
        return f"the factory is {type_of(factory)}; wanted a class, or a function that makes its objects"
    if kind == "trainer" and (fault := _fault_of_trainer(factory)):
        return fault
    return fault_of_options(kind, options, factory)


def fault_of_options(kind: str, options: Sequence[str], factory: Any = None) -> str | None:
    """The first option that has the name of a key of the tables, or of a common option of `rerank train`."""
    taken = dict(RESERVED[kind])
    if kind == "trainer" and factory is not None:
        uses = common_uses(factory)
        taken |= {option: f"a common option, as `uses` has {use!r}" for use in uses for option in OF_USES[use]}
    return next((_reserved(option, taken[option]) for option in options if option in taken), None)


def _reserved(option: str, what: str) -> str:
    return f"the option {option!r} cannot be set: in tables of this kind the key names {what}; rename it"


def _fault_of_trainer(factory: Any) -> str | None:
    if not isinstance(factory, type) or not issubclass(factory, Trainer):
        return f"the factory is {type_of(factory)}; wanted a class that derives from Trainer"
    if factory.reads not in get_args(Reading):
        return f"reads = {factory.reads!r}; wanted one of {', '.join(get_args(Reading))}"
    if isinstance(factory.uses, str) or (unknown := [use for use in factory.uses if use not in get_args(Use)]):
        found = factory.uses if isinstance(factory.uses, str) else unknown[0]
        return f"uses has {found!r}; wanted some of {', '.join(get_args(Use))}, in a tuple"
    return None
