"""Writes the registered plugins as one Markdown page: every name with its summary and its options."""

from __future__ import annotations

from collections.abc import Mapping

from rerank_plugins.core.registry import Entry, Option

HEAD = """# Plugins and their options

This page is made by `rerank plugins --markdown`. In a config a plugin is a table, `use = "NAME"` and its options as
keys; on the command line it is `NAME,option=value,option=value`. An option without default must be given. Beside these,
`[[feature]]` tables take `label`, `text` and `source_text`, `[[metric]]` tables `label` and `text`
([configuration](config.md)). Language models are features as well.
"""
TITLES = {
    "feature": "Features",
    "language_model": "Language models",
    "parser": "Parsers",
    "metric": "Metrics",
    "tuner": "Tuners",
    "format": "Formats of n-best lists",
    "trainer": "Trainers",
}


def plugin_page(entries: Mapping[str, Mapping[str, Entry]]) -> str:
    """The page for the entries of each kind, by name."""
    parts = [HEAD]
    for kind, known in entries.items():
        parts.append(f"## {TITLES.get(kind, kind)}\n")
        parts += [_entry(entry) for entry in known.values()]
    return "\n".join(parts)


def _entry(entry: Entry) -> str:
    lines = [f"### `{entry.name}`", entry.summary, ""]
    options = entry.options()
    if options:
        lines += ["| option | type | default | meaning |", "| --- | --- | --- | --- |", *map(_row, options), ""]
    return "\n".join(lines)


def _row(option: Option) -> str:
    default = "" if option.required else f"`{option.default!r}`"
    cells = (f"`{option.name}`", f"`{option.type_name}`", default, option.doc)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
