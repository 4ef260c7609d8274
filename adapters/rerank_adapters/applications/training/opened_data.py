"""Opens the data of a training for any trainer (text, sentence pairs, or trees, of treebanks or parsed), and reports.

Files may be compressed. Texts go through the steps of `--text`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any

from rerank_adapters.applications.language_models.scoring import perplexity
from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.applications.training.parallel_text import read_sentence_pairs
from rerank_adapters.applications.training.tree_source import CONSTITUENTS, DEPENDENCIES, NamedParser, TreeSource
from rerank_adapters.data.overlap import contents, warn_if_trained_on
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.models import default_parser, load_parser
from rerank_adapters.job.specs import Names, plugin_table
from rerank_adapters.runtime.progress import CountingBar, StatusLine, duration
from rerank_adapters.text import TextPipeline, in_language
from rerank_plugins.core.owners import calling
from rerank_plugins.core.threads import cores
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, checked_trained, parses
from rerank_plugins.kit.files.text import display_name, open_text
from rerank_plugins.kit.trees.dependency_constituents import Conversion

USUAL_JOBS = 2  # processes that parse, as in a config
LONG_SECONDS = 60.0  # of a training that says beforehand how long it takes
LINES_OF_BLOCK = 1000  # lines that go through the text steps together


def opened_data(
    trainer: Trainer, paths: Sequence[str], output: Path, common: CommonOptions, names: Names,
    report: Callable[[str], object],
) -> OpenedData:  # fmt: skip
    """The data of a training, as the trainer declares that it reads them."""
    if parses(trainer):
        return OpenedTrees(trainer, paths, output, common, report, names)
    return OpenedTexts(trainer, paths, output, common, report)


class OpenedData(TrainingData):
    """The data of a training, its progress, and the report of the results."""

    def __init__(
        self, trainer: Trainer, paths: Sequence[str], output: Path, common: CommonOptions,
        report: Callable[[str], object],
    ) -> None:  # fmt: skip
        self.paths, self.output, self.held_out, self.language = paths, output, common.held_out, common.language
        self.text = TextPipeline([in_language(step, common.language) for step in common.steps])
        self.trainer, self._report = trainer, report

    @abstractmethod
    def showing_progress(self) -> AbstractContextManager[object]:
        """A block in which the progress of the training is shown."""

    @abstractmethod
    def evaluations(self, evaluate: Callable[[Iterable[Any]], object]) -> Iterator[str]:
        """Lines that say how well the model predicts the held-out files, which it evaluates."""

    def train(self) -> Trained:
        """Train the model, show the progress, and write the model file."""
        with self.showing_progress():
            trained = checked_trained(self.trainer, self)
            self.progress("writing")
            with calling(self.trainer, "train, save"):
                trained.save(self.output)
        return trained

    def report(self, line: str) -> None:
        """Pass a line on to whoever runs the training."""
        self._report(line)

    def report_held_out(self, trained: Trained) -> None:
        """Report how well the model predicts each held-out file; sentence pairs are those of one file or of two."""
        own = getattr(self.trainer, "held_out", None)  # of a trainer that tunes on a text of its own
        if held_out := [*self.held_out, *([own] if own else [])]:
            warn_if_trained_on(contents(self.paths), "the model is", held_out)
        if not self.held_out:
            return
        if trained.evaluate is not None:
            with calling(self.trainer, "train, evaluate"):
                for line in self.evaluations(trained.evaluate):
                    self.report(line)
            return
        assert trained.language_model is not None  # the trainer uses `held-out`
        for path in self.held_out:
            with calling(self.trainer, "train, language_model"):
                model = trained.language_model()
            with open_text(path) as lines, CountingBar("held-out sentences") as bar:
                totals = perplexity(model, bar.over(lines))
            self.report(f"{display_name(path)}: {totals.summary()}")


class OpenedTexts(OpenedData):
    """Texts, sentence pairs, or files that the trainer itself reads."""

    parsed = ""

    def __init__(
        self, trainer: Trainer, paths: Sequence[str], output: Path, common: CommonOptions,
        report: Callable[[str], object],
    ) -> None:  # fmt: skip
        super().__init__(trainer, paths, output, common, report)
        self.seed, self.jobs = 1 if common.seed is None else common.seed, common.jobs or cores()
        self._status, self._begun = StatusLine(), 0.0

    @property
    def names(self) -> list[str]:
        """The names of the files."""
        return [display_name(path) for path in self.paths]

    def examples(self) -> Iterator[Any]:
        """The (name, lines) of each text, sentence pairs, or the paths of files."""
        return iter(map(Path, self.paths)) if self.trainer.reads == "files" else self._read(self.paths)

    def _read(self, paths: Sequence[str]) -> Iterator[Any]:
        return read_sentence_pairs(paths) if self.trainer.reads == "pairs" else _texts(paths, self.text)

    def trained_on(self) -> TrainedOn:
        """The record of the data for the model file."""
        return TrainedOn(self.language, text=self.text.describe())

    def progress(self, stage: str, done: int | None = None, parts: tuple[int, int] | None = None) -> None:
        """Show the stage, how many words it has done, and the time that is left; report that of a long training."""
        finished, total = parts or (0, 0)
        if finished:
            left = (time.monotonic() - self._begun) / finished * (total - finished)
            stage = f"{stage}, about {duration(left)} left"
            if finished == 1 and left >= LONG_SECONDS:
                self.report(stage)
        else:
            self._begun = time.monotonic()
        self._status(stage, done)

    def showing_progress(self) -> AbstractContextManager[object]:
        """A block in which the stage is shown."""
        return self._status

    def evaluations(self, evaluate: Callable[[Iterable[Any]], object]) -> Iterator[str]:
        """A line for each file that the trainer itself reads, or one for all texts."""
        if self.trainer.reads != "files":
            yield f"held out: {evaluate(self._read(self.held_out))}"
            return
        for path in self.held_out:
            with StatusLine(f"held-out sentences of {path}"):
                result = evaluate([Path(path)])
            yield f"{path}: {result}"


class OpenedTrees(OpenedData):
    """Trees of treebanks, and of text that is parsed."""

    def __init__(
        self, trainer: Trainer, paths: Sequence[str], output: Path, common: CommonOptions,
        report: Callable[[str], object], names: Names,
    ) -> None:  # fmt: skip
        super().__init__(trainer, paths, output, common, report)
        self.seed, self.jobs = 1 if common.seed is None else common.seed, common.jobs or USUAL_JOBS
        name = common.parser or default_parser(names, trainer.default_parser)
        table = names.tables.get("parser", {}).get(name) or plugin_table(name)  # a treebank may need no parser at all
        parser = NamedParser(name, str(table.get("use")), lambda: load_parser(name, names))
        kind: Any = DEPENDENCIES if trainer.reads == "dependencies" else CONSTITUENTS
        self._trees: TreeSource[Any] = TreeSource(
            kind, parser, self.text, Processes(self.jobs, common.scheduler),
            language=common.language, is_named=bool(common.parser),
            conversion=Conversion(getattr(trainer, "tags", "upos")),
        )  # fmt: skip
        self._files = [Path(path) for path in paths]
        self.language = common.language or self._trees.parsed_language(self._files)

    @property
    def names(self) -> list[str]:
        """The names of the files."""
        return [path.name for path in self._files]

    def examples(self) -> Iterator[Any]:
        """The trees."""
        return self._trees.trees(self._files)

    def trained_on(self) -> TrainedOn:
        """The record of the trees for the model file."""
        return self._trees.trained_on(self._files, self.output.parent)

    @property
    def parsed(self) -> str:
        """How many sentences were parsed, and how many arcs were lifted to make constituents."""
        facts = [str(self._trees.counts)] * bool(self._trees.counts.sentences)
        facts += [str(self._trees.conversion)] * bool(self._trees.conversion.words)
        return f" ({'; '.join(facts)})" if facts else ""

    def progress(self, stage: str, done: int | None = None, parts: tuple[int, int] | None = None) -> None:
        """Show nothing: the trees are counted."""

    def showing_progress(self) -> AbstractContextManager[object]:
        """A block in which the trees are counted."""
        return self._counting("trees", self._files)

    def evaluations(self, evaluate: Callable[[Iterable[Any]], object]) -> Iterator[str]:
        """A line for each file."""
        for path in self.held_out:
            with self._counting("held-out trees", [Path(path)]):
                result = evaluate(self._trees.trees([Path(path)]))
            yield f"{path}: {result}"

    def _counting(self, counted: str, paths: Sequence[Path]) -> CountingBar:
        bar = CountingBar(counted, self._trees.count(paths))
        self._trees.seen = bar.add
        return bar


def _texts(paths: Iterable[str], text: TextPipeline) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the name of each file and its lines after the steps. Raises FormatError for a file that cannot be read."""
    for path in paths:
        with open_text(path) as lines:
            yield display_name(path), _through(text, lines)


def _through(text: TextPipeline, lines: Iterator[str]) -> Iterator[str]:
    if not text.steps:
        yield from lines
        return
    while block := list(islice(lines, LINES_OF_BLOCK)):
        for line in text.apply([line.rstrip("\r\n") for line in block]):
            yield line + "\n"
