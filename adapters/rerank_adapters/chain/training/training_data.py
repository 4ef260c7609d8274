"""Opens the data of a training for any trainer (text, sentence pairs, or trees, of treebanks or parsed), and reports.

Files may be compressed. Texts go through the steps of `--text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from rerank_adapters.chain.parse_pool import ParseCounts
from rerank_adapters.chain.scoring import perplexity
from rerank_adapters.chain.training.common_options import CommonOptions
from rerank_adapters.chain.training.tree_source import CONSTITUENTS, DEPENDENCIES, TreeSource
from rerank_adapters.data.overlap import contents, warn_if_trained_on
from rerank_adapters.formats.pairs import read_sentence_pairs
from rerank_adapters.runtime.progress import CountingBar, StatusLine
from rerank_adapters.text import TextPipeline, in_language
from rerank_plugins.core.registry import Registry
from rerank_plugins.core.threads import cores
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, parses
from rerank_plugins.kit.files.text import display_name, open_text
from rerank_plugins.kit.trees.dependency_constituents import Conversion

LINES_AT_A_TIME = 1000  # lines that go through the text steps at a time


class OpenedData(TrainingData):
    """The data of a training, as a trainer declares that it reads them."""

    def __init__(
        self, trainer: Trainer, paths: Sequence[str], output: Path, common: CommonOptions, registry: Registry,
        report: Callable[[str], object],
    ) -> None:  # fmt: skip
        self.paths, self.output, self.held_out = paths, output, common.held_out
        self.language = common.language
        self._trainer, self._common, self._registry, self._report = trainer, common, registry, report
        self._text = TextPipeline([in_language(step, common.language) for step in common.steps])
        self._status = StatusLine()
        if self._reads_trees:
            self.seed, self.jobs = self._trees.job.config.seed, self._trees.job.config.jobs
            self.language = common.language or self._trees.parsed_language(self._files)
        else:
            self.seed, self.jobs = 1 if common.seed is None else common.seed, common.jobs or cores()

    @property
    def _reads_trees(self) -> bool:
        return parses(self._trainer)

    @cached_property
    def _trees(self) -> TreeSource[Any]:
        from rerank_adapters.chain.job import Job

        common = self._common
        kind: Any = DEPENDENCIES if self._trainer.reads == "dependencies" else CONSTITUENTS
        job = Job.create(common.settings, self._registry)
        parser = common.parser or job.models.default_parser(self._trainer.default_parser)
        return TreeSource(
            kind, job, parser, self._text, ParseCounts(),
            language=common.language, is_named=bool(common.parser),
            conversion=Conversion(getattr(self._trainer, "tags", "upos")),
        )  # fmt: skip

    @property
    def _files(self) -> list[Path]:
        return [Path(path) for path in self.paths]

    @property
    def names(self) -> list[str]:
        """The names of the files."""
        return [path.name for path in self._files] if self._reads_trees else [display_name(path) for path in self.paths]

    def train(self) -> Trained:
        """What the trainer learns, with its progress; the model file is written."""
        if self._reads_trees:
            with CountingBar("trees") as bar:
                self._trees.seen = bar.add
                trained = self._trainer.train(self)
                trained.save(self.output)
            return trained
        with self._status:
            trained = self._trainer.train(self)
            self.progress("writing")
            trained.save(self.output)
        return trained

    def examples(self) -> Iterator[Any]:
        """What the files hold, in the form of the trainer's `reads`."""
        if self._reads_trees:
            return self._trees.trees(self._files)
        return iter(self._files) if self._trainer.reads == "files" else self._opened(self.paths)

    def _opened(self, paths: Sequence[str]) -> Iterator[Any]:
        return read_sentence_pairs(paths) if self._trainer.reads == "pairs" else _texts(paths, self._text)

    def trained_on(self) -> TrainedOn:
        """The record of the data for the model file."""
        if self._reads_trees:
            return self._trees.trained_on(self._files, self.output.parent)
        return TrainedOn(self.language, text=self._text.describe())

    @property
    def parsed(self) -> str:
        """How many sentences were parsed, and how many arcs were lifted to make constituents."""
        if not self._reads_trees:
            return ""
        facts = [str(self._trees.counts)] * bool(self._trees.counts.sentences)
        facts += [str(self._trees.conversion)] * bool(self._trees.conversion.words)
        return f" ({'; '.join(facts)})" if facts else ""

    def report(self, line: str) -> None:
        """Pass a line on to whoever runs the training."""
        self._report(line)

    def progress(self, stage: str, done: int | None = None) -> None:
        """Show the stage, where trees are not counted instead."""
        if not self._reads_trees:
            self._status(stage, done)

    def report_held_out(self, trained: Trained) -> None:
        """Print how well the model predicts each held-out file; sentence pairs are those of one file or of two."""
        own = getattr(self._trainer, "held_out", None)  # of a trainer that tunes on a text of its own
        if held_out := [*self.held_out, *([own] if own else [])]:
            warn_if_trained_on(contents(self.paths), "the model is", held_out)
        if not self.held_out:
            return
        if trained.evaluate is None:
            assert trained.language_model is not None  # the trainer uses `held-out`
            for path in self.held_out:
                with open_text(path) as lines, CountingBar("held-out sentences") as bar:
                    totals = perplexity(trained.language_model(), bar.over(lines))
                self.report(f"{display_name(path)}: {totals.summary()}")
        elif self._reads_trees:
            for path in self.held_out:
                with CountingBar("held-out trees") as bar:
                    self._trees.seen = bar.add
                    result = trained.evaluate(self._trees.trees([Path(path)]))
                self.report(f"{path}: {result}")
        elif self._trainer.reads == "files":
            for path in self.held_out:
                with StatusLine(f"held-out sentences of {path}"):
                    result = trained.evaluate([Path(path)])
                self.report(f"{path}: {result}")
        else:
            self.report(f"held out: {trained.evaluate(self._opened(self.held_out))}")


def _texts(paths: Iterable[str], text: TextPipeline) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name of each file and its lines after the steps. Raises FormatError for a file that cannot be read."""
    for path in paths:
        with open_text(path) as lines:
            yield display_name(path), _through(text, lines)


def _through(text: TextPipeline, lines: Iterator[str]) -> Iterator[str]:
    if not text.steps:
        yield from lines
        return
    while block := list(islice(lines, LINES_AT_A_TIME)):
        for line in text.apply([line.rstrip("\r\n") for line in block]):
            yield line + "\n"
