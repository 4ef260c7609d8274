"""Files of n-best lists with the format that they are read in, which becomes the table `[nbest]` of the config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.notation import plugin_table
from rerank_adapters.text import whole_words
from rerank_plugins import FormatError, NBestFormat, NBestList
from rerank_plugins.core.plugins import Registry


@dataclass(frozen=True)
class Lists:
    """A file or folder of n-best lists, with the name of its format and the options of the format."""

    path: Path
    format: str
    nbests: list[NBestList] = field(repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The folder that the lists are, or that they are in."""
        return self.path if self.path.is_dir() else self.path.parent

    @property
    def ids(self) -> list[str]:
        """The ids of the segments, in order."""
        return [nbest.segment_id for nbest in self.nbests]

    @property
    def firsts(self) -> list[str]:
        """The decoder's 1-best of each segment."""
        return [nbest[0].text for nbest in self.nbests]

    @cached_property
    def whole_firsts(self) -> list[str]:
        """The same texts with sub-word pieces joined, which other texts are compared with."""
        return whole_words(self.firsts)


class Reader:
    """Reads lists, in the format that the user names as NAME,option=value,… if there is one."""

    def __init__(self, registry: Registry, format_: str | None) -> None:
        self.registry = registry
        self.table = plugin_table(format_) if format_ else {}

    @property
    def name(self) -> str:
        """The name of the user's format; "" where there is none."""
        return str(self.table.get("use", ""))

    @property
    def reads_folders(self) -> bool:
        """Whether the user's format has lists that are spread over the files of a folder."""
        return type(self._job(self.table).format).read_folder is not NBestFormat.read_folder

    def read(self, path: Path, name: str, **options: Any) -> Lists:
        """The lists of a file or folder in a format; the options are those of the user for the user's format.

        Raises FormatError.
        """
        table = self.table if name == self.name else {"use": name, **options}
        nbests = read_nbest([path], self._job(table).format)
        return Lists(path, name, nbests, {key: value for key, value in table.items() if key != "use"})

    def tried(self, path: Path, name: str = "", **options: Any) -> Lists | None:
        """The same in the user's format, or another one; None for a file that cannot be read in it."""
        try:
            return self.read(path, name or self.name, **options)
        except FormatError:
            return None

    def _job(self, table: Mapping[str, Any]) -> Job:
        return Job.of(Config(nbest=dict(table)), self.registry)
