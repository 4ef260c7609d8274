"""The common parts of recognisers' text formats: lists whose form cannot hold totals, and small parsers.

Such a format keeps the line or lines of each hypothesis in `Hypothesis.raw`. A list that was not changed is written as
it was read; a rescored one has its hypotheses in the new order, each with the lines that it had.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import ClassVar

from rerank_adapters.formats.one_line import check_id, one_line, spelt_texts
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList, Rescored
from rerank_plugins.kit.files.text import STANDARD, finite_value

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
AUDIO = (".wav", ".flac", ".mp3", ".m4a", ".mp4", ".ogg", ".opus", ".sph", ".webm", ".mfc")


class LineFormat(NBestFormat):
    """A format whose hypotheses keep the lines that they were read from."""

    ids_are_words: ClassVar[bool] = False  # whether a line has the id of its segment before the text

    def spelling(self, text: str) -> str:
        """The text as one line."""
        return one_line(text)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the lines of a list, as they were read or, with `rescored`, as `written` composes them.

        A line end is added to any but the last piece that lacks one. Raises ConfigError as `written` does, and for an
        id that is no word, if lines begin with ids.
        """
        if rescored is not None or not all(hypothesis.raw for hypothesis in nbest):
            if self.ids_are_words:
                check_id(nbest.segment_id)
            yield from self.written(spelt_texts(nbest, self.spelling), rescored)
            return
        raws = [hypothesis.raw for hypothesis in nbest]
        yield from (with_end(raw, "\n") for raw in raws[:-1])
        yield from raws[-1:]

    @abstractmethod
    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines of a list that was rescored, or has hypotheses that were not read."""


class OrderFormat(LineFormat):
    """A format in which a rescored list has its new order alone: there is no place for totals and new features."""

    keeps_totals: ClassVar[bool] = False
    keeps_features: ClassVar[bool] = False

    @abstractmethod
    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield the lines of a list with these hypotheses in this order, each with its line end."""

    def written(self, nbest: NBestList, rescored: Rescored | None) -> Iterator[str]:
        """Yield the lines with the hypotheses in the new order, if there is one."""
        order = range(len(nbest)) if rescored is None else rescored.order
        return self.compose(nbest, [nbest[row] for row in order])


def with_end(line: str, end: str) -> str:
    """The line, with a line end added where it lacks one, as the last line of a file may."""
    return line if line.endswith("\n") else line + end


def check_size(nbest: NBestList, size: int, option: str) -> None:
    """Raise ConfigError for a list that has not as many hypotheses as the option says that each list has."""
    if len(nbest) != size:
        message = f"segment {nbest.segment_id} has {len(nbest)} hypotheses, and each list has {option}={size} lines"
        raise ConfigError(f"{message}; wanted lists of this size, or a format that shows where a list ends")


def line_end(nbest: NBestList) -> str:
    r"""The line end of the lines that a list was read from: "\r\n" where the first one has it, else "\n"."""
    raw = nbest[0].raw
    return "\r\n" if "\r\n" in raw else "\n"


def stem(path: str) -> str:
    """The name of a file without its folder and ending, the id of an utterance that has a file of its own.

    The endings of compression and of audio files do not count.

    >>> stem("lists/utt.07.nbest.gz"), stem("utt-07.wav.json")
    ('utt.07', 'utt-07')
    """
    if path in (STANDARD, "<stdin>"):
        return "0"
    name = Path(path).name
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    name = Path(name).stem
    return Path(name).stem if name.endswith(AUDIO) else name


def files_in(folder: str, endings: Collection[str] = ()) -> list[Path]:
    """The files of a folder in the order of their names, but no hidden ones; with `endings` only those that end so.

    A compressed file counts by the ending before that of the compression. Raises FormatError where there is none.
    """

    def ending(path: Path) -> str:
        return Path(path.name.removesuffix(path.suffix)).suffix if path.suffix in COMPRESSED else path.suffix

    files = [path for path in sorted(Path(folder).iterdir()) if path.is_file() and not path.name.startswith(".")]
    chosen = [path for path in files if not endings or ending(path) in endings]
    if not chosen:
        wanted = f" that ends in {' or '.join(endings)}" if endings else ""
        raise FormatError(f"the folder has no file{wanted}", path=folder)
    return chosen


def lists_in(folder: str) -> list[Path]:
    """The files of a folder with one list each: those with the most frequent ending, if most files have it, else all.

    So a text of references or a table of speakers may lie beside the lists. Raises FormatError where there is no file.
    """
    files = files_in(folder)
    ending, number = Counter(path.suffix for path in files).most_common(1)[0]
    return [path for path in files if path.suffix == ending] if 2 * number > len(files) else files


def without(words: Iterable[str], dropped: Collection[str]) -> str:
    """The words joined by spaces, less those that a recogniser writes for silence and sentence ends."""
    return " ".join(word for word in words if word not in dropped)


def read_values(lines: Iterable[str], path: str, negative: bool = False) -> dict[str, float]:
    """A number for each key of a file of lines `key number`. Raises FormatError for a key that occurs twice.

    With `negative` the numbers are costs, and their negations are returned.
    """
    values: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise FormatError(f"found {len(fields)} columns, expected a key and a number", path=path, line=number)
        if fields[0] in values:
            raise FormatError(f"the key {fields[0]!r} occurs twice", path=path, line=number)
        score = finite_value(fields[1], f"the value of {fields[0]!r}", path, number)
        values[fields[0]] = -score if negative else score
    return values


def grouped(runs: Iterable[tuple[str, Hypothesis, int]]) -> Iterator[NBestList]:
    """One list per run of (id, hypothesis, line number) with the same id."""
    current: str | None = None
    hypotheses: list[Hypothesis] = []
    start = 0
    for id_, hypothesis, number in chain(runs, [("", Hypothesis(""), 0)]):
        if hypotheses and (id_ != current or not number):
            yield NBestList(current or "", tuple(hypotheses), line=start)
            hypotheses = []
        if number:
            start = start if hypotheses else number
            current = id_
            hypotheses.append(hypothesis)
