"""`rerank words edit-distance`: the mean edit distance to complete sentences, as the billion-word imputation
task has it.

The distance is that of Levenshtein (1966), by rapidfuzz, over whole sentences with their spaces; lower is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from rerank_adapters.applications.restoration.incomplete import is_header, parse_rows
from rerank_adapters.commands.options import style_option
from rerank_adapters.evaluation.significance import Z
from rerank_adapters.report.tables import Table
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_text


class Sentences(NamedTuple):
    """The sentences of a file by id: those of a CSV file, or the numbers of the lines, from 0."""

    name: str
    by_id: dict[str, str]


def read_sentences(path: str | Path) -> Sentences:
    """The sentences of a CSV file of the imputation task, or of the lines of a text. Raises FormatError."""
    name = display_name(path)
    with open_text(path) as lines:
        first = next(lines, "")
        stream = chain([first] if first else [], lines)
        if is_header(first):
            return Sentences(name, {id_: sentence for _, id_, sentence in parse_rows(stream, name)})
        return Sentences(name, {str(number): line.rstrip("\r\n") for number, line in enumerate(stream)})


def edit_distances(complete: Sentences, restored: Sentences) -> LongArray:
    """(sentences) the distance of each restored sentence to the complete one, in the order of the complete ones.

    Raises FormatError for sentences that only one of the two has.
    """
    from rapidfuzz.distance import Levenshtein

    for ours, theirs in ((complete, restored), (restored, complete)):
        if missing := next((id_ for id_ in ours.by_id if id_ not in theirs.by_id), None):
            sizes = f"it has {len(theirs.by_id)} sentences, {ours.name} has {len(ours.by_id)}"
            raise FormatError(f"no sentence {missing}: {sizes}", path=theirs.name)
    distances = (Levenshtein.distance(text, restored.by_id[id_]) for id_, text in complete.by_id.items())
    return np.fromiter(distances, np.int64, len(complete.by_id))


def distance_records(complete: Sentences, systems: list[Sentences]) -> Iterator[dict[str, Any]]:
    """A record for each system: the mean distance with its 95 % interval, and the proportion of right sentences."""
    for system in systems:
        distances = edit_distances(complete, system)
        mean, n = float(distances.mean()), len(distances)
        half = Z * float(distances.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
        right = float((distances == 0).mean())
        bounds = {"low": mean - half, "high": mean + half}
        yield {"system": system.name, "sentences": n, "mean": mean, **bounds, "right": right}


def distance_table(records: list[dict[str, Any]]) -> Table:
    """The records as a table."""
    rows = [
        (r["system"], f"{r['mean']:.4f}", f"{r['low']:.3f} to {r['high']:.3f}", f"{100 * r['right']:.2f} %")
        for r in records
    ]
    header = ("system", "mean distance", "95 % interval", "right")
    note = f"Characters per sentence, over {records[0]['sentences']:,} sentences."
    return Table("Edit distance", header, tuple(rows), (note,))


@click.command("edit-distance")
@click.argument("complete")
@click.argument("restored", nargs=-1, required=True, metavar="RESTORED...")
@style_option
def command(complete: str, restored: tuple[str, ...], style: str) -> None:
    """Score restored sentences by their mean edit distance.

    The score of the billion-word imputation task is the mean Levenshtein distance in characters between the RESTORED
    sentences and the COMPLETE ones; lower is better. Both are CSV files with the columns id and sentence, matched by
    id, or texts, matched line by line. `right` is the proportion of sentences that are restored exactly.

    \b
    rerank words edit-distance solution.csv submission.csv
    rerank words edit-distance novel.ref novel.1best novel.reranked
    """  # noqa: D301
    from rerank_adapters.report.output import write_records

    whole = read_sentences(complete)
    if not whole.by_id:
        raise FormatError("there is no sentence", path=whole.name)
    records = list(distance_records(whole, [read_sentences(path) for path in restored]))
    write_records(records, [distance_table(records)], style)
