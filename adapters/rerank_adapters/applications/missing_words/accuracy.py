"""Measures how often the right answer is among the first 1, 2, 3, 5 and 10 (Song 2016, Tables 2 and 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from rerank_adapters.applications.missing_words.incomplete import Incomplete
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.report.tables import Table
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.errors import FormatError

TOPS = (1, 2, 3, 5, 10)


def rank_of(right: object, answers: Sequence[object]) -> int | None:
    """The rank of the right answer, from 0; None where it is not among the answers."""
    return answers.index(right) if right in answers else None


def top_accuracies(ranks: Sequence[int | None] | LongArray) -> FloatArray:
    """(5) the proportions of answers whose rank, from 0, is below each of TOPS; None is not among the answers."""
    known = np.array([TOPS[-1] if rank is None else rank for rank in ranks], np.int64)
    return np.array([float((known < top).mean()) if len(known) else 0.0 for top in TOPS])


def chance(gaps: Sequence[int]) -> FloatArray:
    """(5) the expected proportions where the gaps of each sentence, so many, are put in random order."""
    sizes = np.maximum(np.array(gaps, np.float64), 1.0)
    return np.array([float(np.minimum(top / sizes, 1.0).mean()) if len(sizes) else 0.0 for top in TOPS])


def answered(sentences: Iterable[Incomplete], name: str) -> Iterator[Incomplete]:
    """Yield the sentences. Raises FormatError, with the file and line, for one whose missing word is not known."""
    empty = True
    for sentence in sentences:
        if sentence.complete is None:
            wanted = "the missing word is not known: accuracies need a file of `rerank words remove`"
            raise FormatError(wanted, path=name, line=sentence.line)
        empty = False
        yield sentence
    if empty:
        raise FormatError("there is no sentence to measure accuracies on", path=name)


def print_accuracies(title: str, accuracies: Mapping[str, FloatArray], sentences: int, form: str) -> None:
    """Print the accuracies of each system with the 95 % interval of top 1, in per cent or, for `json`, as JSON."""
    from rerank_adapters.report.output import write_records

    records, rows = [], []
    for system, values in accuracies.items():
        low, high = wilson_interval(values[0] * sentences, sentences)
        tops = {f"top{top}": float(value) for top, value in zip(TOPS, values, strict=True)}
        records.append({"system": system, "sentences": sentences, **tops, "low": low, "high": high})
        cells = (f"{100 * value:.2f}" for value in tops.values())
        rows.append((system, *cells, f"{100 * low:.1f} to {100 * high:.1f}"))
    header = ("%", *(f"top {top}" for top in TOPS), "interval")
    note = f"Of {sentences:,} sentences. The intervals are those of top 1 at 95 %, by Wilson."
    table = Table(title, header, tuple(rows), (note,))
    write_records(records, [table], "json" if form == "json" else "table")
