"""Options that several commands share, and how they turn into a config.

A flag replaces a whole table of the config file (`--tuner mira,passes=20` all of `[tuner]`), never a single key of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.config import Config

Command = TypeVar("Command", bound=Callable[..., Any])

PLUGIN_HELP = "NAME or NAME,option=value,… (see `rerank plugins`)"
TABLE_HELP = "Features extracted before. With -f, the columns of those features; what the table lacks is extracted."


def output_file(value: str) -> Path:
    """A file to write, `-` for stdout: that its folder is there and may be written is checked before any work.

    Raises ConfigError.
    """
    path = Path(value)
    if value != "-":
        if path.is_dir():
            raise ConfigError(f"{path}: is a folder, expected a file to write")
        if not path.parent.is_dir():
            raise ConfigError(f"{path}: there is no folder {path.parent} to write it in")
        if not os.access(path.parent, os.W_OK | os.X_OK) and (path.is_file() or not path.exists()):
            raise ConfigError(f"{path}: the folder {path.parent} may not be written (permission denied)")
    return path


def output_option(what: str) -> Callable[[Command], Command]:
    """`-o`: where to write, stdout if not given."""
    return click.option(
        "-o", "--output", type=output_file, default="-", metavar="FILE", help=f"{what} Default: stdout."
    )


def model_file(value: str) -> Path:
    """A model to write: a file, and not stdout. Raises ConfigError."""
    if value == "-":
        raise ConfigError("a model goes to a file, not to stdout: give -o MODEL")
    return output_file(value)


def model_output(what: str = "Model file to write.") -> Callable[[Command], Command]:
    """`-o`: the model to write."""
    return click.option("-o", "--output", type=model_file, required=True, metavar="MODEL", help=what)


def config_option(command: Command) -> Command:
    """`-c`: a config file whose tables the command uses."""
    return click.option("-c", "--config", type=Path, metavar="FILE", help="Config (TOML); flags replace its tables.")(
        command
    )


def format_option(command: Command) -> Command:
    """`--format`: the n-best format."""
    return click.option("--format", "format_", metavar="FORMAT", help=f"N-best format: {PLUGIN_HELP}. Default: moses.")(
        command
    )


def feature_option(command: Command) -> Command:
    """`-f`: a feature to extract, repeatable."""
    return click.option(
        "-f", "--feature", "features", multiple=True, metavar="FEATURE", help=f"A feature: {PLUGIN_HELP}. Repeatable."
    )(command)


def metric_option(command: Command) -> Command:
    """`-m`: a metric, repeatable."""
    return click.option(
        "-m", "--metric", "metrics", multiple=True, metavar="METRIC", help=f"A metric: {PLUGIN_HELP}. Repeatable."
    )(command)


def references_option(command: Command) -> Command:
    """`-r`: reference files, repeatable."""
    return click.option(
        "-r", "--reference", "references", multiple=True, type=Path, required=True, metavar="FILE",
        help="A reference file, one line per segment; repeat it for several references.",
    )(reference_form_option(command))  # fmt: skip


def reference_form_option(command: Command) -> Command:
    """`--reference-form`: how references belong to segments."""
    return click.option(
        "--reference-form", type=click.Choice(["auto", "lines", "kaldi", "trn"]), default="auto",
        help="Which line belongs to which segment: line numbers (lines), ids in front (kaldi) or at the end (trn)."
        " Default: lines for ids that are numbers, else the form that has all ids.",
    )(command)  # fmt: skip


def source_option(command: Command) -> Command:
    """`--source`: the source sentences."""
    return click.option("--source", type=Path, metavar="FILE", help="Source sentences, one line per segment.")(command)


def jobs_option(command: Command) -> Command:
    """`-j`: processes."""
    return click.option("-j", "--jobs", type=click.IntRange(1), help="Processes for extraction. Default: 2.")(command)


def seed_option(command: Command) -> Command:
    """`--seed`: of everything random."""
    return click.option("--seed", type=click.IntRange(0), help="Seed of everything random. Default: 1.")(command)


def text_option(command: Command) -> Command:
    """`--text`: what sentences go through before features and models read them (see `text_steps`)."""
    return click.option(
        "--text", "steps", multiple=True, metavar="STEP",
        help="Text step for sentences. Default: penn-tokenize; `--text none` leaves them.",
    )(command)  # fmt: skip


def tokenised_text_option(command: Command) -> Command:
    """`--text` of commands whose text is tokenised already: no step is the default (`text_steps(steps, ())`)."""
    return click.option(
        "--text", "steps", multiple=True, metavar="STEP",
        help="Text step for text, as penn-tokenize. Repeatable. Default: none.",
    )(command)  # fmt: skip


def text_steps(steps: tuple[str, ...], usual: tuple[str, ...] = ("penn-tokenize",)) -> tuple[str, ...]:
    """The steps that `--text` asks for: the `usual` ones where it is not given."""
    return () if steps == ("none",) else steps or usual


def models_option(command: Command) -> Command:
    """`--lm`: a language model that judges, repeatable."""
    return click.option(
        "--lm", "models", multiple=True, metavar="LM",
        help=f"A language model: its file, its name in the config, or {PLUGIN_HELP}. Repeatable.",
    )(command)  # fmt: skip


def columns_option(command: Command) -> Command:
    """`--column`: which columns of the features judge, repeatable."""
    return click.option(
        "--column", "columns", multiple=True, metavar="PATTERN",
        help="Only columns whose names match, as '*.total'. Repeatable. Default: all.",
    )(command)  # fmt: skip


def style_option(command: Command) -> Command:
    """`--as`: a table for people, or records for programs."""
    return click.option(
        "--as", "style", type=click.Choice(["table", "tsv", "json", "markdown"]), default="table", show_default=True,
        help="Form.",
    )(command)  # fmt: skip


def strength_option(command: Command) -> Command:
    """`--strength`: of logistic regression."""
    return click.option(
        "--strength", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True,
        help="Of logistic regression: the inverse of its penalty (scikit-learn's C).",
    )(command)  # fmt: skip


def tuner_option(command: Command) -> Command:
    """`-t`: a tuner."""
    return click.option("-t", "--tuner", metavar="TUNER", help=f"A tuner: {PLUGIN_HELP}. Default: mira.")(command)


@dataclass(frozen=True)
class JobFlags:
    """The flags that describe a job; None, or nothing, where a flag was not given."""

    config: Path | None = None
    features: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    tuner: str | None = None
    format_: str | None = None
    seed: int | None = None
    jobs: int | None = None

    @property
    def settings(self) -> Config:
        """The config file (or an empty one, relative to here), with the tables that flags give in place of its own."""
        from rerank_adapters.config import Config, plugin_table, read_config

        given = {
            "feature": [plugin_table(feature) for feature in self.features],
            "metric": [plugin_table(metric) for metric in self.metrics],
            "tuner": plugin_table(self.tuner) if self.tuner else None,
            "nbest": plugin_table(self.format_) if self.format_ else None,
            "seed": self.seed,
            "jobs": self.jobs,
        }
        config = read_config(self.config) if self.config else Config()
        return config.model_copy(update={key: value for key, value in given.items() if value not in (None, [])})


FLAGS: dict[str, Callable[[Any], Any]] = {
    "features": feature_option,
    "metrics": metric_option,
    "tuner": tuner_option,
    "config": config_option,
    "format_": format_option,
    "jobs": jobs_option,
    "seed": seed_option,
}


def job_flags(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of these FLAGS, handed to the command in one argument, `flags`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(*args: Any, **given: Any) -> Any:
            return command(*args, flags=JobFlags(**{name: given.pop(name) for name in names}), **given)

        for name in reversed(names):
            gathered = FLAGS[name](gathered)
        return gathered

    return decorate
