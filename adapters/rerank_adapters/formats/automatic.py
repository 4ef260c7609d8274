"""The format `auto`, which guesses the format from the first lines of the first file, and names it in the log.

The formats besides Moses's are said; that of Moses is the default of every command and needs no line. The first file
decides for all files of a job. A list that is written without having been read is written in Moses's format.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from rerank_adapters.formats.decoder_features import DenseRule
from rerank_adapters.formats.guessing import LINES, MOSES, Guess, guess, guess_folder
from rerank_plugins.core.errors import PluginError
from rerank_plugins.core.metrics_and_tuners import NBestFormat, Rescored
from rerank_plugins.core.nbest import NBestList

logger = logging.getLogger(__name__)


class AutoFormat(NBestFormat):
    """The format that the first lines of the lists show; the other formats are named where they show none."""

    def __init__(self) -> None:
        self._guess: Guess | None = None
        self._format: NBestFormat | None = None

    @property
    def guessed_name(self) -> str | None:
        """The name of the format, once a file has been read."""
        return self._guess.name if self._guess is not None else None

    @property
    def dense_rule(self) -> DenseRule | None:
        """The rule of the format for sparse features; None before a file has been read."""
        rule: DenseRule | None = getattr(self._format, "dense_rule", None)
        return rule

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield the lists as the format reads them. Raises FormatError, with candidates, where none is shown."""
        stream = iter(lines)
        if self._format is None:
            head = list(islice(stream, LINES))
            if not head:
                return
            self._choose(guess(head, path), path)
            stream = chain(head, stream)
        yield from self._chosen.read(stream, path)

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of a folder as the format reads them."""
        if self._format is None:
            self._choose(guess_folder(folder), folder)
        yield from self._chosen.read_folder(folder)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list in the format in which the lists were read."""
        return self._chosen.write(nbest, rescored)

    @property
    def _chosen(self) -> NBestFormat:
        if self._format is None:
            self._choose(MOSES, "")
        if self._format is None:
            raise PluginError(f"there is no format {MOSES.name!r}")
        return self._format

    def _choose(self, guess: Guess, path: str) -> None:
        from rerank_adapters.formats.plugin import register_nbest_formats

        factories: dict[str, Callable[..., Any]] = {}
        register_nbest_formats(factories.__setitem__)
        self._guess, self._format = guess, factories[guess.name]()
        if guess != MOSES:
            logger.info("rerank: %s reads as %s; name it with --format %s", path, guess.title, guess.name)
