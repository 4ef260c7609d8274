"""Measures the accuracies of all methods of location on sentences whose missing words are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rerank_adapters.applications.restoration.accuracy import (
    TOPS,
    accuracy_records,
    accuracy_table,
    chance,
    top_accuracies,
)
from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_adapters.applications.restoration.locating import Locating
from rerank_adapters.applications.restoration.sharing import in_batches
from rerank_adapters.report.output import write_records
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins.core.errors import FormatError


def answered(sentences: Iterable[Incomplete], name: str) -> Iterator[Incomplete]:
    """Yield the sentences. Raises FormatError, with the file and line, for one whose missing word is not known."""
    empty = True
    for sentence in sentences:
        if sentence.complete is None:
            wanted = "the missing word is not known: accuracies need a file of `rerank remove-word`"
            raise FormatError(wanted, path=name, line=sentence.line)
        empty = False
        yield sentence
    if empty:
        raise FormatError("there is no sentence to measure accuracies on", path=name)


def report_accuracies(
    sentences: Iterable[Incomplete], model: Path, name: str, jobs: int, style: str, output: Path
) -> int:
    """Write the accuracies of each method and those of chance; returns the number of sentences."""
    from rerank_plugins.missing_words.model import METHODS

    known = list(answered(sentences, name))
    shares = {"chance": chance([len(sentence.words) - 1 for sentence in known])}
    with CountingBar("sentences located", len(METHODS) * len(known)) as bar:
        for method in METHODS:
            ranks = []
            located = bar.over(in_batches(Locating(model, method, TOPS[-1]), known, jobs, "the model"))
            for sentence, places in located:
                gaps = [place.gap for place in places]
                ranks.append(gaps.index(sentence.gap) if sentence.gap in gaps else None)
            shares[method] = top_accuracies(ranks)
    records = accuracy_records(shares, len(known))
    write_records(records, [accuracy_table("Positions of missing words", records)], style, output)
    return len(known)
