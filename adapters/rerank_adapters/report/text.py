"""Writes evaluations and records as TSV, JSON, Markdown and LaTeX, and the registered plugins as a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rerank_adapters.evaluation.result import Evaluation
from rerank_adapters.report.tables import Table, score_table
from rerank_plugins.core.plugins import Entry, Option

Record = Mapping[str, Any]
HEAD = """# Plugins and their options

This page is made by `rerank plugins --as markdown`. In a config a plugin is a table, `use = "NAME"` and its options as
keys; on the command line it is `NAME,option=value,option=value`. An option without default must be given. Beside these,
`[[feature]]` tables take `label`, `text` and `source_text`, `[[metric]]` tables `label` and `text`, and `[tuner]` takes
`margin` ([configuration](../config.md)). Language models are features as well.
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
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "[": "{[}",  # a bracket at the start of a row would be read as an option of the row before
    "]": "{]}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
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


def tsv(evaluation: Evaluation) -> str:
    """The records of an evaluation, and behind those of each metric its oracles, separated by tabs."""
    records, rows = evaluation.records(), list[Record]()
    for metric in evaluation.metrics:
        rows += [record for record in records if record["metric"] == metric.name]
        if metric.oracle:
            for name, score in (("oracle", metric.oracle.best), ("anti-oracle", metric.oracle.worst)):
                of_lists = {"metric": metric.name, "system": f"{name} ({metric.oracle.kind})", "score": score}
                rows.append({**of_lists, "signature": metric.signature})
    return records_tsv(rows)


def json(evaluation: Evaluation) -> str:
    """The whole evaluation with all segments."""
    return evaluation.to_json()


def markdown(evaluation: Evaluation) -> str:
    """The table of scores with its notes."""
    return markdown_table(score_table(evaluation))


def latex(evaluation: Evaluation) -> str:
    """The table of scores as a `tabular` that needs no package, its notes as comments."""
    table = score_table(evaluation)
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}", r"\hline"]
    lines += [" & ".join(map(_latex, table.header)) + r" \\", r"\hline"]
    for row in table.rows:  # cells of several lines become as many rows
        cells = [cell.split("\n") for cell in row]
        for i in range(max(map(len, cells))):
            name, *scores = (_latex(cell[i]) if i < len(cell) else "" for cell in cells)
            lines.append(" & ".join([name, *(re.sub(r"-(?=\d)", "$-$", score) for score in scores)]) + r" \\")
    lines += [r"\hline", r"\end{tabular}", *(f"% {note}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def markdown_table(table: Table) -> str:
    """A table with its title as a heading and its notes as a list."""
    align = ["---"] + ["---:"] * (len(table.header) - 1)
    lines = [f"### {table.title}", "", _markdown_row(table.header), _markdown_row(align)]
    lines += [_markdown_row(row) for row in table.rows]
    lines += ["", *(f"- {_markdown(note)}" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def _markdown_row(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(_markdown(cell).replace("\n", "<br>") for cell in cells) + " |"


def _markdown(text: str) -> str:
    for character in "\\|*<":
        text = text.replace(character, "\\" + character)
    return text


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def records_tsv(records: Sequence[Record]) -> str:
    """A header and a line per record; the columns are the keys of all records, in order of first occurrence.

    >>> records_tsv([{"a": 0.5, "b": None}, {"a": 1, "c": "x"}]).split()
    ['a', 'b', 'c', '0.5', '1', 'x']
    """
    columns = list(dict.fromkeys(key for record in records for key in record))
    lines = ["\t".join(columns)]
    lines += ["\t".join(_cell(record.get(column)) for column in columns) for record in records]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.9g}" if isinstance(value, float) else str(value)
    return " ".join(text.split()) if "\t" in text or "\n" in text else text
