"""The format `auto`: that of the first file, which decides for all files of a job.

It names the format that it guessed where the sign may be there by chance. A list that is written without having been
read is written in Moses's format.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import ClassVar

from rerank_adapters.formats.decoder_features import DenseRule
from rerank_adapters.formats.guessing import MAX_LINES, MOSES, Guess, format_of, guess, guess_folder
from rerank_plugins import NBestFormat, NBestList, PluginError, Rescored

logger = logging.getLogger(__name__)


class AutoFormat(NBestFormat):
    """The format that the first lines of the lists show; the other formats are named where they show none."""

    reads_json: ClassVar[bool] = True

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
            head = list(islice(stream, MAX_LINES))
            if not head:
                return
            self._choose(guess(head, path), path)
            stream = chain(head, stream)
        yield from self.chosen.read(stream, path)

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of a folder as the format reads them."""
        if self._format is None:
            self._choose(guess_folder(folder), folder)
        yield from self.chosen.read_folder(folder)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list in the format in which the lists were read."""
        return self.chosen.write(nbest, rescored)

    def spelling(self, text: str) -> str:
        """The text as the format writes it."""
        return self.chosen.spelling(text)

    @property
    def chosen(self) -> NBestFormat:
        """The format in which the lists were read; that of Moses where none have been."""
        if self._format is None:
            self._choose(MOSES, "")
        if self._format is None:
            raise PluginError(f"there is no format {MOSES.name!r}")
        return self._format

    def _choose(self, guess: Guess, path: str) -> None:
        self._guess, self._format = guess, format_of(guess)
        level = logging.INFO if guess.uncertain else logging.DEBUG
        logger.log(level, "rerank: %s reads as %s; --format names another format", path, guess.title)


def known_format(format: NBestFormat) -> NBestFormat:
    """The format itself or, where it is guessed, the format that was found: lists must have been read."""
    return format.chosen if isinstance(format, AutoFormat) else format
