"""Reads pairs of sentences, with or without scores of their similarity.

The format follows from the ending of the file's name and the number of columns of the first line:

    a.tsv   score<TAB>sentence<TAB>sentence                           STS tasks of 2012 to 2015, as usually distributed
    a.tsv   sentence<TAB>sentence[<TAB>score]                         plain pairs
    a.csv   sentence,sentence[,score]                                 STS benchmark, with the quoting of CSV
    a.tsv   genre, file, year, number, score, sentence, sentence …    STS benchmark, as first distributed

Scores are finite numbers (0 to 5 in STS). A sentence may be empty: the measures are defined for it. Reading takes
linear time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from rerank_adapters.formats.table_rows import table_rows
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, open_text

WANTED = "score<TAB>sentence<TAB>sentence, or sentence<TAB>sentence[<TAB>score]"
MIN_BENCHMARK_COLUMNS = 7  # the STS benchmark's own files have at least this many columns


@dataclass(frozen=True, eq=False)
class SentencePairs:
    """The pairs of a file and (n) their scores, None if the file has none."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    scores: FloatArray | None


def read_sentence_pairs(path: str | Path) -> SentencePairs:
    """The pairs of a file.

    Raises FormatError, with path and line, for a row with more or fewer columns than the first, for a score that is not
    a finite number, and for a file without pairs.
    """
    name = display_name(path)
    with open_text(path) as lines:
        rows = list(table_rows(lines, name, commas=".csv" in Path(name).suffixes))
    if not rows:
        raise FormatError("no pairs of sentences", path=name)
    number, first = rows[0]
    score_column, sentence_column = _columns(first, name, number)
    pairs, scores = [], []
    for number, cells in rows:
        if len(cells) != len(first) and len(first) < MIN_BENCHMARK_COLUMNS:
            raise FormatError(f"{len(cells)} columns, the first row has {len(first)}", path=name, line=number)
        if len(cells) < sentence_column + 2:
            raise FormatError(f"{len(cells)} columns, wanted {WANTED}", path=name, line=number)
        pairs.append((cells[sentence_column].strip(), cells[sentence_column + 1].strip()))
        if score_column is not None:
            scores.append(_score(cells[score_column], name, number))
    return SentencePairs(name, tuple(pairs), np.array(scores, np.float64) if score_column is not None else None)


def _columns(first: list[str], name: str, line: int) -> tuple[int | None, int]:
    """The column of the score, None if there is none, and the column of the first sentence."""
    if len(first) >= MIN_BENCHMARK_COLUMNS:
        return 4, 5
    if len(first) == 2:
        return None, 0
    if len(first) == 3:
        return (0, 1) if _is_number(first[0]) and not _is_number(first[2]) else (2, 0)
    raise FormatError(f"{len(first)} columns, wanted {WANTED}", path=name, line=line)


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _score(text: str, name: str, line: int) -> float:
    if not _is_number(text):
        raise FormatError(f"the score is {text!r}, wanted a number", path=name, line=line)
    return float(text)
