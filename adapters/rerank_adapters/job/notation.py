"""How plugins are written on the command line and in Python: NAME,option=value,option=value."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from rerank_plugins import ConfigError
from rerank_plugins.core.json_and_toml import read_toml_table


def plugin_table(text: str) -> dict[str, Any]:
    """The table of a plugin written as NAME,option=value,…. Raises ConfigError for another form.

    A value that is not TOML is a string. The value of an option that is a plugin itself is a name, or its table in
    braces. Words in a list need no quotation marks.

    >>> plugin_table("chrf,label=chrF++,word_order=2")
    {'use': 'chrf', 'label': 'chrF++', 'word_order': 2}
    >>> plugin_table("slr,lm={headlex,model=own.headlex},label=ratio")
    {'use': 'slr', 'lm': {'use': 'headlex', 'model': 'own.headlex'}, 'label': 'ratio'}
    >>> plugin_table("mean,metrics=[bleu,chrf]")
    {'use': 'mean', 'metrics': ['bleu', 'chrf']}
    >>> plugin_table("grid,axes=[LM=0:1:6,length=-1:1:5]")
    {'use': 'grid', 'axes': ['LM=0:1:6', 'length=-1:1:5']}
    """
    name, *pairs = _outside_braces(text)
    if not name or "=" in name:
        raise ConfigError(f"{text!r} does not start with a name; wanted NAME or NAME,option=value")
    table: dict[str, Any] = {"use": name}
    for key, value in map(_option, pairs):
        if key in table:
            raise ConfigError(f"{text!r} has the option {key!r} twice; wanted one value, or a list: {key}=[A,B]")
        table[key] = value
    return table


def _outside_braces(text: str) -> list[str]:
    """The text split at the commas before `option=` that neither braces nor brackets enclose."""
    parts, start, depth = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "{[") - (character in "}]")
        if character == "," and depth == 0 and re.match(r"[A-Za-z_][\w-]*=", text[place + 1 :]):
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _option(pair: str) -> tuple[str, Any]:
    key, _, text = pair.partition("=")
    if re.fullmatch(r"\{[^{},=]+,.*\}", text):
        return key, plugin_table(text[1:-1])
    if re.fullmatch(r"\[[^][{}\"']*[A-Za-z][^][{}\"']*\]", text):
        return key, [word.strip() for word in text[1:-1].split(",")]
    try:
        return key, read_toml_table(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return key, text
