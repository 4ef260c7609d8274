"""Reads pairs of sentences, with or without scores of their similarity.

The format follows from the first line. Cells are between tabs if it has a tab, otherwise they are those of CSV:

    score<TAB>sentence<TAB>sentence                           STS tasks of 2012 to 2015, as usually distributed
    sentence<TAB>sentence[<TAB>score]                         plain pairs
    sentence,sentence[,score]                                 STS benchmark, with the quoting of CSV
    genre, file, year, number, score, sentence, sentence …    STS benchmark, as first distributed (between tabs)
    … sentence1 … sentence2 … [score]                         a header with the names of SENTENCES and SCORES

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
SENTENCES = [f"{name}{joint}{number}" for name in ("sentence", "text", "s") for joint in ("", "_") for number in "12ab"]
SCORES = ("score", "similarity", "similarity_score", "relatedness_score", "gold", "label")


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
        text = list(lines)
    commas = "\t" not in next((line for line in text if line.strip()), "")
    rows = list(table_rows(text, name, commas=commas))
    header = _header_columns(rows[0][1]) if rows else None
    if not rows[header is not None :]:
        raise FormatError("no pairs of sentences", path=name)
    number, first = rows[0]
    score_column, *sentence_columns = header or _columns(first, name, number)
    pairs, scores = [], []
    for number, cells in rows[header is not None :]:
        if len(cells) != len(first) and (header or len(first) < MIN_BENCHMARK_COLUMNS):
            raise FormatError(f"{len(cells)} columns, the first row has {len(first)}", path=name, line=number)
        if len(cells) <= max(sentence_columns):
            raise FormatError(f"{len(cells)} columns, wanted {WANTED}", path=name, line=number)
        one, other = (cells[column].strip() for column in sentence_columns)
        pairs.append((one, other))
        if score_column is not None:
            scores.append(_score(cells[score_column], name, number))
    return SentencePairs(name, tuple(pairs), np.array(scores, np.float64) if score_column is not None else None)


Columns = tuple[int | None, int, int]  # of the score, None if there is none, and of both sentences


def _header_columns(first: list[str]) -> Columns | None:
    """The columns that a header names; None where the first row is none."""
    names = [cell.strip().lower() for cell in first]
    sentences = [column for column, name in enumerate(names) if name in SENTENCES]
    if len(sentences) != 2:
        return None
    scores = [column for column, name in enumerate(names) if name in SCORES]
    return scores[0] if scores else None, sentences[0], sentences[1]


def _columns(first: list[str], name: str, line: int) -> Columns:
    """The columns of a file without a header."""
    if len(first) >= MIN_BENCHMARK_COLUMNS:
        return 4, 5, 6
    if len(first) == 2:
        return None, 0, 1
    if len(first) == 3:
        return (0, 1, 2) if _is_number(first[0]) and not _is_number(first[2]) else (2, 0, 1)
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
