"""A training: a trainer, its data, and the file that its model is written to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.job.models import spec_of
from rerank_adapters.job.specs import Names
from rerank_adapters.runtime.progress import size_text
from rerank_adapters.text import TextPipeline
from rerank_plugins import PluginError, __version__
from rerank_plugins.core.files import check_output
from rerank_plugins.core.identity import identity
from rerank_plugins.core.owners import described
from rerank_plugins.core.trainer import Trainer, lines_about


@dataclass(frozen=True)
class Training:
    """A trainer with the files that it reads, the output, and the values of the common options.

    `names` are what a config means by the names of parsers.
    """

    trainer: Trainer
    paths: Sequence[str]
    output: Path
    common: CommonOptions
    names: Names

    def prepare_output(self) -> None:
        """Make the folder of the output. Raises ConfigError, before any work, where the model cannot be written."""
        self.output.parent.mkdir(parents=True, exist_ok=True)
        check_output(self.output)

    def run(self, report: Callable[[str], object]) -> str:
        """Train the model and write it; return a description of its file. `report` gets lines for people.

        Raises FormatError, ConfigError, ModelError, and PluginError for a plugin that writes no file.
        """
        from rerank_adapters.applications.training.opened_data import opened_data

        data = opened_data(self.trainer, self.paths, self.output, self.common, self.names, report)
        trained = data.train()
        if not (self.trainer.to_stdout or self.output.exists()):
            raise PluginError(f"{described(self.trainer)}: save wrote no file; wanted {self.output}")
        for line in lines_about(self.trainer, trained):
            report(line)
        data.report_held_out(trained)
        size = "" if self.trainer.to_stdout else f" ({size_text(self.output.stat().st_size)})"
        return f"{trained.what}{size}"

    @property
    def identity(self) -> str:
        """The identity of all that the model depends on: options, the content of files, and the program's version."""
        common = self.common
        options = {
            field.name: _content(getattr(self.trainer, field.name))
            for field in fields(cast("Any", self.trainer))
            if not field.metadata.get("writes")
        }
        parser = spec_of(common.parser, self.names, "parser", "--parser") if common.parser else None
        return identity(
            type(self.trainer).__name__, options, _content(self.paths), _content(common.held_out),
            TextPipeline(common.steps).describe(), common.language, common.seed,
            parser and [parser.entry.name, parser.options], __version__,
        )  # fmt: skip


def _content(value: object) -> object:
    """The value with paths in the place of the texts that name files, as FILE or FILE=NUMBER."""
    if isinstance(value, (list, tuple)):
        return [_content(item) for item in value]
    if not isinstance(value, str):
        return value
    name, _, number = value.rpartition("=")
    found = [Path(each) for each in (value, name) if each and Path(each).is_file()]
    return [found[0], number] if found else value
