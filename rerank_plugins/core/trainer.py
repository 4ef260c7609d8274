"""The interface of trainers: dataclasses whose fields are the options of `rerank train NAME` and of `[[model]]`.

A trainer declares what it reads and which common options it uses; the command opens the data, and saves what `train`
returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from rerank_plugins.core.interfaces import LanguageModel
from rerank_plugins.core.owners import calling, fault, is_ours, shown, type_of
from rerank_plugins.core.trained_on import TrainedOn

Reading = Literal["text", "pairs", "dependencies", "constituents", "files"]
PARSED = ("dependencies", "constituents")  # readings of trees, for which text is parsed
Use = Literal["text", "held-out", "language", "cluster", "seed", "jobs"]


class TrainingData(ABC):
    """The data of a training, opened, and the common options that the trainer uses; the others have their defaults.

    `paths`     the files as the user named them; `names` are those to record and to show
    `output`    the model file; it is written after the training, by `Trained.save`
    `held_out`  the files of `--held-out`
    `language`  the code of `--language`, or ""
    """

    paths: Sequence[str]
    output: Path
    held_out: Sequence[str] = ()
    language: str = ""
    seed: int = 1
    jobs: int = 1

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the files."""

    @property
    def provenance(self) -> dict[str, Any]:
        """What is recorded of the data in the model file: the names of the files."""
        return {"files": self.names}

    @abstractmethod
    def examples(self) -> Iterator[Any]:
        """What the files hold, from the start at each call. Raises FormatError, ConfigError.

        `text`          (name, lines) for each file, its lines after the steps of `--text`
        `pairs`         (source, target) sentences
        `dependencies`  DependencyTrees of treebanks and of parsed text; `constituents`: Trees likewise
        `files`         the paths
        """

    @abstractmethod
    def trained_on(self) -> TrainedOn:
        """The record of the data for the model file: language, text steps and parser. Read them first."""

    @property
    @abstractmethod
    def parsed(self) -> str:
        """How many sentences were parsed, or arcs lifted, in brackets after a space; empty where nothing was."""

    @abstractmethod
    def report(self, line: str) -> None:
        """Print a line for people at once."""

    @abstractmethod
    def progress(self, stage: str, done: int | None = None, parts: tuple[int, int] | None = None) -> None:
        """Show the stage of the training, and the number of words that it has done.

        `parts` is how many of equally long parts are done, and how many there are, first (0, number): it says how long
        the training still takes.
        """


@dataclass(frozen=True)
class Trained:
    """What a trainer has learnt.

    `save`            writes the model file
    `lines`           what a person wants to know of the model; they are taken after the file is written
    `evaluate`        held-out examples -> how well the model predicts them, as text
    `language_model`  the saved model, for trainers of text, whose held-out files are measured by their perplexity
    `what`            what the file holds, for the last line: `wrote the model (1.20 MB) to FILE in 3.1 s`
    """

    save: Callable[[Path], object]
    lines: Iterable[str] = ()
    evaluate: Callable[[Iterable[Any]], object] | None = None
    language_model: Callable[[], LanguageModel] | None = None
    what: str = "the model"


class Trainer(ABC):
    """A trainer of models: a dataclass whose docstring is the help of `rerank train NAME`, with its examples.

    `reads` is the data, `uses` the common options that the command offers for it. With `dependencies` and
    `constituents`, text is parsed with `--parser`, by default `default_parser`. With `to_stdout`, a file without `-o`
    is printed; `writes_treebank` says that the file is a treebank instead of a model.
    """

    reads: ClassVar[Reading] = "text"
    uses: ClassVar[tuple[Use, ...]] = ()
    default_parser: ClassVar[str] = ""
    to_stdout: ClassVar[bool] = False
    writes_treebank: ClassVar[bool] = False

    @abstractmethod
    def train(self, data: TrainingData) -> Trained:
        """Learn a model from the data. Raises FormatError, ConfigError, ModelError."""


def parses(trainer: type[Trainer] | Trainer) -> bool:
    """Whether a trainer learns from trees, so that text is parsed for it."""
    return trainer.reads in PARSED


def common_uses(trainer: type[Trainer] | Trainer) -> set[str]:
    """The common options that the trainer uses, by the names of the command line."""
    return {*trainer.uses, *(("text", "parser", "config", "jobs") if parses(trainer) else ())}


def checked_trained(trainer: Trainer, data: TrainingData) -> Trained:
    """`trainer.train(data)`, of which a plugin of others makes a Trained with functions and texts.

    Raises ContractError for anything else, and what `train` raises.
    """
    with calling(trainer, "train"):
        found: Any = trainer.train(data)
    if is_ours(type(trainer)):
        return found  # type: ignore[no-any-return]
    if not isinstance(found, Trained):
        raise fault(trainer, "train", type_of(found), "a Trained")
    for name in ("save", "evaluate", "language_model"):
        function = getattr(found, name)
        if not callable(function) and (name == "save" or function is not None):
            raise fault(trainer, "train", f"{name} {shown(function)}", "a function")
    if isinstance(found.lines, str) or not hasattr(found.lines, "__iter__"):
        raise fault(trainer, "train", f"lines {shown(found.lines)}", "a list of texts")
    if not isinstance(found.what, str):
        raise fault(trainer, "train", f"what {shown(found.what)}", "a text")
    if data.held_out and found.evaluate is None and found.language_model is None:
        raise fault(trainer, "train", "neither evaluate nor language_model", "one of them, for the held-out files")
    return found


def lines_about(trainer: Trainer, trained: Trained) -> list[str]:
    """What a person wants to know of the model: `trained.lines`. Raises ContractError where they are no texts."""
    with calling(trainer, "train, lines"):
        lines: list[Any] = list(trained.lines)
    if wrong := [line for line in lines if not isinstance(line, str)]:
        raise fault(trainer, "train, lines", type_of(wrong[0]), "a line of text (str)")
    return lines
