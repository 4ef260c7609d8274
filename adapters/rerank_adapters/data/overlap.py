"""Warns of results on data that weights or models were trained on: these are optimistic.

Data are compared by their content, so that a copy, another name or another compression makes no difference. Weights
record a sample of the segments that they were tuned on: the SAMPLED_HASHES smallest hashes. Those segments of another
set whose hashes are not above the largest of these are as random a sample of that set (Broder 1997), which shows how
many of its segments were tuned on.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.data.dataset import Dataset
from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.runtime.progress import counted

MIN_PART = 0.5  # of the distinct items of a set, from which on they are no coincidence, as short sentences can be
SAMPLED_HASHES, DIGITS = 100, 10  # that weights record, and hexadecimal digits of each
SEGMENTS = "segments"  # the key of a record of weights: the sample, joined by spaces
LEARNT = "learnt_from"  # the key of a record: by the hash of each file's content, its name
ADVICE = "scores on training data are optimistic; use held-out data"

logger = logging.getLogger(__name__)


def overlap(learnt: Iterable[Hashable], measured: Iterable[Hashable], names: tuple[str, str], noun: str) -> str | None:
    """A line where half of the distinct items of the second set, or more, are in the first set too; else None."""
    known, distinct = set(learnt), set(measured)
    shared = len(known & distinct)
    if shared == 0 or shared < MIN_PART * len(distinct):
        return None
    of_all = f"{shared:,} of the {counted(len(distinct), f'distinct {noun}')} of {names[1]}"
    return f"{of_all} are in {names[0]}, too: {ADVICE}"


def overlap_with_tuning(tuning: Dataset, test: Dataset) -> str | None:
    """The same for the segments of a test set: the references of each, or else all its hypotheses."""
    return overlap(_segments(tuning), _segments(test), ("the tuning set", test.name), "segment")


def _segments(data: Dataset) -> Iterable[Sequence[str]]:
    return (tuple(texts) or tuple(nbest.texts) for nbest, texts in zip(data.lists, data.references, strict=True))


def segment_sample(references: Iterable[Sequence[str]]) -> str:
    """The sample of segments, each known by its references, that weights record."""
    return " ".join(sorted(set(map(_hashed, references)))[:SAMPLED_HASHES])


def warn_if_tuned_on(record: Mapping[str, Any], references: Iterable[Sequence[str]], test: str) -> None:
    """Warn of a test set, given its references, half of whose segments the weights of this record were tuned on."""
    sample = str(record.get(SEGMENTS, "")).split()
    hashes = set(map(_hashed, references))
    alike = {digest for digest in hashes if len(sample) < SAMPLED_HASHES or digest <= sample[-1]}
    if alike and len(alike.intersection(sample)) >= MIN_PART * len(alike):
        half = "half of its segments or more are among those that the weights were tuned on"
        logger.warning("%s: %s: %s", test, half, ADVICE)


def _hashed(references: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(references).encode()).hexdigest()[:DIGITS]


def contents(paths: Iterable[Path | str]) -> dict[str, str]:
    """The names of files by the hash of their content after decompression; stdin, which is gone once read, is left out.

    Raises FormatError for a file that cannot be read.
    """
    hashes = {}
    for path in map(Path, paths):
        if str(path) != "-" and path.is_file():
            hashed = hashlib.sha256()
            with open_lines(path) as lines:
                for line in lines:
                    hashed.update(line.encode())
            hashes[hashed.hexdigest()] = path.name
    return hashes


def warn_if_trained_on(learnt: object, what: str, paths: Iterable[Path | str]) -> None:
    """Warn of files whose content is among the `learnt` ones of a file's record, which may have none."""
    if not isinstance(learnt, dict):
        return
    for digest, name in contents(paths).items():
        if digest in learnt:
            other = f" (as {learnt[digest]})" if learnt[digest] != name else ""
            logger.warning("%s: %s trained on this very file%s: %s", name, what, other, ADVICE)
