"""Plain text with one hypothesis a line: `n` lines for each segment, or groups between blank lines.

    the old mill          with n=2: lines 1 and 2 are segment 0, lines 3 and 4 segment 1; an empty line is an empty
    an old mill           hypothesis. Without n: a blank line ends each group.
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
from typing import ClassVar

from rerank_adapters.formats.delimited import BAR, BLANK
from rerank_adapters.formats.feature_field import FeatureField
from rerank_adapters.formats.line_lists import OrderFormat, check_size, line_end
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestList, open_text, option
from rerank_plugins.kit.files.text import finite_value, shortest


@dataclass(frozen=True)
class PlainFormat(OrderFormat):
    """Plain text: n lines for each segment, or groups between blank lines; scores and features in files beside it."""

    n: int = option(0, doc="number of hypotheses of each segment; 0: blank lines end the lists")
    prefix: bool = option(False, doc="whether each line begins with its total, `-0.41 ||| text`, as CTranslate2 has it")
    scores: str = option("", doc="ending of the file with a total on each line; default: .scores, if there is one")
    features: str = option("", doc="ending of the file with `name= value` on each line; default: .features, if any")

    keeps_ids: ClassVar[bool] = False

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per segment. Raises FormatError with the path and the line."""
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
        segment, start, lead, number = 0, 0, "", 0
        hypotheses: list[Hypothesis] = []
        for number, line in enumerate(lines, 1):
            total, field = totals.line(number), features.line(number)
            if not self.n and not line.strip():
                if hypotheses:
                    hypotheses[-1] = hypotheses[-1]._replace(raw=hypotheses[-1].raw + line)
                    yield NBestList(str(segment), tuple(hypotheses), parser.names, line=start)
                    segment, hypotheses = segment + 1, []
                else:
                    lead += line
                continue
            start = start if hypotheses else number
            text, where = line.strip(BLANK), totals.path
            if self.prefix:
                total, bar, text = (part.strip(BLANK) for part in line.partition(BAR))
                where = path
                if not bar:
                    raise FormatError(f"found {line.strip()!r}, expected score {BAR} text", path=path, line=number)
            score = finite_value(total, "the total score", where, number) if total is not None else None
            values, sparse = parser.parse(field if field is not None else f"score= {total}" if total else "", number)
            hypotheses.append(Hypothesis(text, values, score, sparse, lead + line))
            lead = ""
            if self.n and len(hypotheses) == self.n:
                yield NBestList(str(segment), tuple(hypotheses), parser.names, line=start)
                segment, hypotheses = segment + 1, []
        if hypotheses and self.n:
            message = f"the file has {number} lines, expected a multiple of the {self.n} lines of a segment"
            raise FormatError(message, path=path, line=number)
        if hypotheses:
            yield NBestList(str(segment), tuple(hypotheses), parser.names, line=start)

    def compose(self, nbest: NBestList, hypotheses: Iterable[Hypothesis]) -> Iterator[str]:
        """Yield a line for each hypothesis, and a blank line after the list where blank lines end lists.

        Raises ConfigError for a list of another size than `n`, and for an empty hypothesis where blank lines end lists.
        """
        hypotheses = list(hypotheses)
        if self.n:
            check_size(nbest, self.n, "n")
        elif not self.prefix and not all(hypothesis.text.strip() for hypothesis in hypotheses):
            message = f"segment {nbest.segment_id} has an empty hypothesis, which would end its list"
            raise ConfigError(f"{message}; wanted another format, or n=N where all lists have N hypotheses")
        end = line_end(nbest)
        for hypothesis in hypotheses:
            total = f"{shortest(hypothesis.score or 0.0)} {BAR} " if self.prefix else ""
            yield f"{total}{hypothesis.text}{end}"
        if not self.n:
            yield end


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
