"""Plain text with one hypothesis a line, `n` lines for each segment.

    the old mill          with n=2: lines 1 and 2 are segment 0, lines 3 and 4 segment 1; an empty line is an empty
    an old mill           hypothesis
    nobody came
    none came

So are the hypotheses stored that fairseq's and transformers' scripts print, and that mbrs (`--num_candidates n`) and
qaware-decode read. The id of a segment is its number, from 0. Totals may stand in a file beside the lists, one number a
line, and features in another one, `name= value name= value` a line: a line for each line of the lists, blank ones
included. The files have the name of the lists with `.scores` or `.features` after it, where they exist, or with the
endings that the options `scores` and `features` give, which must exist. With `prefix` each line begins with its total,
`-0.41 ||| the old mill`, as CTranslate2's `ct2-translator --n_best n --with_score` writes (CTranslate2 1 to 4). The
totals are the feature `score`, too, unless there is a file of features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.formats.delimited import BAR, BLANK
from rerank_adapters.formats.feature_field import FeatureField
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, open_text, option
from rerank_plugins.kit.files.text import finite_value


@dataclass(frozen=True)
class PlainFormat(NBestFormat):
    """Plain text: n lines for each segment; scores and features in files beside it."""

    n: int = option(0, doc="number of hypotheses of each segment (required)")
    prefix: bool = option(False, doc="whether each line begins with its total, `-0.41 ||| text`, as CTranslate2 has it")
    scores: str = option("", doc="ending of the file with a total on each line; default: .scores, if there is one")
    features: str = option("", doc="ending of the file with `name= value` on each line; default: .features, if any")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each `n` lines. Raises FormatError with the path and the line."""
        if self.n < 1:
            wanted = "the number of lines for each segment is not known: name it, --format plain,n=100"
            raise FormatError(wanted, path=path)
        with ExitStack() as files:
            totals, features = (
                _SidecarFile(files, path, ending, default)
                for ending, default in ((self.scores, ".scores"), (self.features, ".features"))
            )
            yield from self._lists(lines, path, totals, features)
            totals.finish()
            features.finish()

    def _lists(
        self, lines: Iterable[str], path: str, totals: _SidecarFile, features: _SidecarFile
    ) -> Iterator[NBestList]:
        parser = FeatureField(lambda label: False, features.path or totals.path or path)
        number, blank_ends = 0, self.n > 1  # whether all lists so far end with a blank line
        hypotheses: list[Hypothesis] = []
        for number, line in enumerate(lines, 1):
            total, field = totals.line(number), features.line(number)
            text, where = line.strip(BLANK), totals.path
            if self.prefix:
                total, bar, text = (part.strip(BLANK) for part in line.partition(BAR))
                where = path
                if not bar:
                    raise FormatError(f"found {line.strip()!r}, expected score {BAR} text", path=path, line=number)
            score = finite_value(total, "the total score", where, number) if total is not None else None
            values, sparse = parser.parse(field if field is not None else f"score= {total}" if total else "", number)
            hypotheses.append(Hypothesis(text, values, score, sparse))
            if len(hypotheses) == self.n:
                first = number - self.n + 1
                yield NBestList(str(number // self.n - 1), tuple(hypotheses), parser.names, line=first)
                hypotheses, blank_ends = [], blank_ends and not line.strip()
        if hypotheses:
            message = f"the file has {number} lines, expected a multiple of the {self.n} lines of a segment"
            raise FormatError(message, path=path, line=number)
        if blank_ends and number > self.n:
            message = f"a blank line ends each list, and counts as a hypothesis: wanted {self.n - 1} lines for each"
            raise FormatError(f"{message}, without blank lines between them", path=path, line=self.n)


class _SidecarFile:
    """A file with a line for each line of the lists; without an ending of its own it need not exist."""

    def __init__(self, files: ExitStack, lists: str, ending: str, default: str) -> None:
        self.path = lists + (ending or default)
        self._lines: Iterator[str] | None = None
        if ending or Path(self.path).is_file():
            self._lines = files.enter_context(open_text(self.path))
        else:
            self.path = ""

    def line(self, number: int) -> str | None:
        """The next line, None where there is no such file. Raises FormatError where the file ends too early."""
        if self._lines is None:
            return None
        line = next(self._lines, None)
        if line is None:
            raise FormatError(f"ends before line {number} of the lists", path=self.path, line=number)
        return line.strip()

    def finish(self) -> None:
        """Raise FormatError where the file has more lines than the lists."""
        if self._lines is not None and (line := next(self._lines, None)) is not None and line.strip():
            raise FormatError("has more lines than the lists", path=self.path)
