"""Scores computed elsewhere (COMET, BLEURT, quality estimates, people) as a metric: the mean over chosen hypotheses.

The statistics (S = 2) are the score of the hypothesis and the number of segments (1), so that sums of them give the
mean. With several references the score is the mean over them. The scores are looked up by the texts of the hypothesis
and of the reference, as they are after the text pipeline of the metric: one file serves all data sets and all systems
whose outputs it has, and MBR decisions where it has the pairs of hypotheses. Scores that need no reference are looked
up by the text of the hypothesis alone.

A line of scores is `hypothesis TAB reference TAB score`. Columns between the reference and the score, such as the
source sentence that `rerank table pairs` writes, are not read. A line of scores that need no reference is `hypothesis
TAB score`. Runs of white space in texts count as one space. A pair, or a hypothesis without reference, may come several
times, as with several sources; its score is then the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rerank_adapters.metrics.sacrebleu_conventions import join_signature
from rerank_plugins import (
    ConfigError,
    FloatArray,
    FormatError,
    PickledFields,
    __version__,
    check_texts,
    open_text,
    option,
)
from rerank_plugins.core.files import content_hash
from rerank_plugins.core.metrics_and_tuners import SegmentAverage
from rerank_plugins.kit.files.text import display_name, finite_value

ScoredPairs = dict[str | None, dict[str, float]]  # reference, or None where scores need none -> hypothesis -> score


def plain_text(text: str) -> str:
    """The text with single spaces, as pairs are looked up."""
    return " ".join(text.split())


def read_scored_pairs(path: str | Path) -> ScoredPairs:
    """The scores by reference and hypothesis; the reference is None in a file whose lines have two columns.

    Raises FormatError, with the line, for fewer than two columns, for lines with and without references in one file and
    for a score that is no finite number, and for an empty file.
    """
    name = display_name(path)
    scores: ScoredPairs = {}
    times: dict[tuple[str, str | None], int] = {}  # of the pairs that come more than once
    with open_text(path) as lines:
        for at, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            alone = len(columns) == 2
            if len(columns) < 2 or (scores and alone != (None in scores)):
                wanted = "`hypothesis TAB score`" if None in scores else "`hypothesis TAB reference TAB score`"
                either = " or `hypothesis TAB score`" if not scores else ""
                message = f"found {len(columns)} tab-separated columns, wanted {wanted}{either}"
                raise FormatError(message, path=name, line=at)
            hypothesis, reference = plain_text(columns[0]), None if alone else plain_text(columns[1])
            score = finite_value(columns[-1], "the score", name, at)
            known = scores.setdefault(reference, {})
            if hypothesis in known:
                number = times[hypothesis, reference] = times.get((hypothesis, reference), 1) + 1
                score = known[hypothesis] + (score - known[hypothesis]) / number  # the running mean
            known[hypothesis] = score
    if not scores:
        raise FormatError("the file is empty, wanted `hypothesis TAB reference TAB score` on each line", path=name)
    return scores


@dataclass
class ColumnMetric(PickledFields, SegmentAverage):
    """The mean of scores computed elsewhere for pairs of a hypothesis and a reference, or for hypotheses alone."""

    file: Path = option(
        doc="file of the scores: lines of `hypothesis TAB reference TAB score` (`rerank table pairs`), or of "
        "`hypothesis TAB score` for scores that need no reference"
    )
    scale: float = option(1.0, doc="multiply the scores by this: 100 for percentages, -1 where lower scores are better")

    @cached_property
    def _scores(self) -> ScoredPairs:
        """The scores by reference and hypothesis; read on first use, in each process."""
        return read_scored_pairs(self.file)

    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, 2): the scaled score of the hypothesis, and 1.

        Raises as `check_texts` does, FormatError as `read_scored_pairs` does, ConfigError for a pair without a score.
        """
        check_texts(hypotheses, references)
        scores: list[float] = []
        for texts, right in zip(hypotheses, references, strict=True):
            columns = [self._of_reference(texts, plain_text(reference)) for reference in right]
            scores += np.sort(np.array(columns, np.float64), axis=0).mean(axis=0).tolist()  # sorted: rounded alike
        return np.column_stack([self.scale * np.array(scores, np.float64), np.ones(len(scores))])

    def _of_reference(self, texts: Sequence[str], reference: str) -> list[float]:
        alone = None in self._scores  # the scores need no reference
        known = self._scores.get(None if alone else reference, {})
        try:
            return [known[text] if text in known else known[plain_text(text)] for text in texts]
        except KeyError:
            text = next(text for text in texts if plain_text(text) not in known)
            pair = f"the hypothesis {plain_text(text)[:60]!r}" + (
                "" if alone else f" with the reference {reference[:60]!r}"
            )
            wanted = "`rerank table pairs` writes the pairs to be scored"
            raise ConfigError(f"{self.file}: there is no score for {pair}; {wanted}") from None

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the scores of pairs of hypotheses; each is looked up once. Raises as `statistics` does."""
        columns = [self._of_reference(hypotheses, plain_text(other)) for other in hypotheses]
        return self.scale * np.array(columns, np.float64).reshape(len(hypotheses), len(hypotheses)).T

    def signature(self) -> str:
        """The name of the file and the start of its hash, in sacrebleu's form. Raises ConfigError if it is missing."""
        try:
            digest = content_hash(self.file)[:8]
        except OSError as error:
            raise ConfigError(f"{self.file}: cannot be read ({error.strerror})") from None
        return join_signature(__version__, scores=self.file.name, sha256=digest, scale=f"{self.scale:g}")
