"""A training: a trainer, its data, and the file that its model is written to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.applications.training.common_options import CommonOptions
from rerank_adapters.runtime.progress import size_text
from rerank_plugins import PluginError
from rerank_plugins.core.files import check_output
from rerank_plugins.core.owners import described
from rerank_plugins.core.plugins import Registry
from rerank_plugins.core.trainer import Trainer, lines_about


@dataclass(frozen=True)
class Training:
    """A trainer with the files that it reads, the output, and the values of the common options."""

    trainer: Trainer
    paths: Sequence[str]
    output: Path
    common: CommonOptions
    registry: Registry

    def prepare_output(self) -> None:
        """Make the folder of the output. Raises ConfigError, before any work, where the model cannot be written."""
        self.output.parent.mkdir(parents=True, exist_ok=True)
        check_output(self.output)

    def run(self, report: Callable[[str], object]) -> str:
        """Train the model and write it; return a description of its file. `report` gets lines for people.

        Raises FormatError, ConfigError, ModelError, and PluginError for a plugin that writes no file.
        """
        from rerank_adapters.applications.training.opened_data import opened_data

        data = opened_data(self.trainer, self.paths, self.output, self.common, self.registry, report)
        trained = data.train()
        if not (self.trainer.to_stdout or self.output.exists()):
            raise PluginError(f"{described(self.trainer)}: save wrote no file; wanted {self.output}")
        for line in lines_about(self.trainer, trained):
            report(line)
        data.report_held_out(trained)
        size = "" if self.trainer.to_stdout else f" ({size_text(self.output.stat().st_size)})"
        return f"{trained.what}{size}"
