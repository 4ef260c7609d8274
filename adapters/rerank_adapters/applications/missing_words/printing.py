"""Prints the answers for incomplete sentences: as a table, as JSON objects, or as sentences; also as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rerank_adapters.applications.missing_words.incomplete import Incomplete
from rerank_adapters.rows import Rows
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins.core.json_and_toml import json_line
from rerank_plugins.kit.files.text import open_atomic

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Layout(Generic[Answer]):
    """How the answers of a command look.

    `columns` are those of the table and `cells` its rows for a sentence, after the sentence's id; `record` has what
    follows the id in a JSON object, and `text` is the sentence as it is printed, if the command prints sentences.
    """

    columns: tuple[str, ...]
    cells: Callable[[Incomplete, Answer], Iterable[Sequence[object]]]
    record: Callable[[Incomplete, Answer], Mapping[str, Any]]
    text: Callable[[Incomplete, Answer], str] | None = None

    def rows(self, answers: Iterable[tuple[Incomplete, Answer]]) -> Rows:
        """The rows of a Python function, with the number of each text, from 1, before the cells."""
        numbered = enumerate(answers, 1)
        return Rows(["text", *self.columns], ((n, *cells) for n, answer in numbered for cells in self.cells(*answer)))

    def lines(self, answers: Iterable[tuple[Incomplete, Answer]], form: str) -> Iterator[str]:
        """The lines of all answers in a form: "tsv", "json" or "text"."""
        if form == "tsv":
            yield "\t".join(("sentence", *self.columns)) + "\n"
        for sentence, answer in answers:
            if form == "json":
                yield json_line({"sentence": sentence.id, **self.record(sentence, answer)}) + "\n"
            elif form == "text" and self.text is not None:
                yield f"{self.text(sentence, answer)}\n"
            else:
                for cells in self.cells(sentence, answer):
                    yield "\t".join((sentence.id, *map(_cell, cells))) + "\n"

    def print(
        self, answers: Iterable[tuple[Incomplete, Answer]], form: str, output: Path, noun: str, done: str = ""
    ) -> str:
        """Write the lines of all answers to a file, with a progress bar if `done` names the things that it counts.

        Returns the number of sentences with their `noun`, as `3 sentences (1 of one word, without a gap)`.
        """
        without_gap = 0

        def watched() -> Iterator[tuple[Incomplete, Answer]]:
            nonlocal without_gap
            for sentence, answer in answers:
                without_gap += len(sentence.words) < 2
                yield sentence, answer

        bar = CountingBar(done)
        with open_atomic(output) as out, bar if done else nullcontext():
            out.writelines(self.lines(bar.over(watched()), form))
        return counted(bar.done, noun) + (f" ({without_gap:,} of one word, without a gap)" if without_gap else "")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
