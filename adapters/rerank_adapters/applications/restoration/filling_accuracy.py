"""Measures the accuracy of filling on sentences whose missing words are known."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rerank_adapters.applications.restoration.accuracy import TOPS, accuracy_records, accuracy_table, top_accuracies
from rerank_adapters.applications.restoration.filling import FillGaps, Filling, SubstituteFilling
from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_adapters.applications.restoration.locating_accuracy import answered
from rerank_adapters.applications.restoration.sharing import in_batches
from rerank_adapters.report.output import write_records
from rerank_adapters.runtime.progress import CountingBar
from rerank_plugins.core.brackets_and_quotes import normal_form


def report_accuracies(
    sentences: Iterable[Incomplete], filling: Filling, name: str, jobs: int, style: str, output: Path
) -> int:
    """Write how often the right word is among the first words; returns the number of sentences."""
    ranks = []
    with CountingBar("sentences filled") as bar:
        filled = in_batches(
            FillGaps(filling, min(TOPS[-1], filling.size)), answered(sentences, name), jobs, "the model"
        )
        for sentence, candidates in bar.over(filled):
            word, words = normal_form(sentence.word or ""), [normal_form(candidate.word) for candidate in candidates]
            ranks.append(words.index(word) if word in words else None)
    system = "substitutes" if isinstance(filling, SubstituteFilling) else "five contexts"
    records = accuracy_records({system: top_accuracies(ranks)}, len(ranks))
    write_records(records, [accuracy_table("Missing words", records)], style, output)
    return len(ranks)
