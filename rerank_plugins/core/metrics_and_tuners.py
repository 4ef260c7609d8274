"""The interfaces of metrics, tuners and formats of n-best lists, which plugins implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from rerank_plugins.core.arrays import BoolArray, FloatArray
from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.core.feature_table import FeatureTable
from rerank_plugins.core.nbest import NBestList


class Metric(ABC):
    """A corpus metric of additive sufficient statistics: those of the segments sum to those of the corpus."""

    higher_is_better: ClassVar[bool] = True
    decomposes: ClassVar[bool] = False  # the corpus score is monotone in a sum over segments, so the oracle is exact

    @abstractmethod
    def statistics(self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> FloatArray:
        """(rows, S): a row for each hypothesis, segment by segment, against all references of its segment.

        `hypotheses[s]` are the texts of segment s, `references[s]` its one or more references. Begin with
        `check_texts(hypotheses, references)`, which raises the errors for arguments that have another shape.
        """

    @abstractmethod
    def score(self, totals: FloatArray) -> FloatArray:
        """Corpus scores of summed statistics, over the last axis: (…, S) -> (…)."""

    @abstractmethod
    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """(n, S) -> (n): smoothed scores of single hypotheses, on the scale of `score`."""

    @abstractmethod
    def signature(self) -> str:
        """The settings that define the score, in sacrebleu's form (the caller adds `nrefs`)."""

    def with_sources(self, sources: Sequence[str | None]) -> Metric:  # noqa: ARG002
        """The metric for segments with these source sentences: itself, unless the metric reads sources.

        `statistics` of the returned metric takes as many segments as there are `sources`, and `pairwise`, which takes
        the hypotheses of one segment, is called where there is one. A source that is not known is None.
        """
        return self

    def pair_scores(self, statistics: FloatArray) -> FloatArray:
        """(n, S) -> (n): the scores of single hypotheses whose reference is another hypothesis, or a sample.

        They are the sentence scores. Override it where these have no bound if the reference is empty: by the expected
        loss, one empty sample would outweigh all others.
        """
        return self.sentence_scores(statistics)

    def pairwise(self, hypotheses: Sequence[str]) -> FloatArray:
        """(n, n): the score of hypothesis i with hypothesis j as its reference, as `pair_scores` has it.

        Override it for speed.
        """
        columns = [self.statistics([hypotheses], [[other]]) for other in hypotheses]
        return np.stack([self.pair_scores(column) for column in columns], axis=1)


class SegmentAverage(Metric):
    """A metric that averages one score of each hypothesis: the statistics (S = 2) are that score / `unit`, and 1."""

    decomposes: ClassVar[bool] = True
    unit: ClassVar[float] = 1.0  # 100 where scores are in per cent and statistics are proportions

    def score(self, totals: FloatArray) -> FloatArray:
        """The mean score, 0 where there are no segments: (…, 2) -> (…)."""
        totals = np.asarray(totals, np.float64)
        return np.asarray(self.unit * (totals[..., 0] / np.where(totals[..., 1] > 0, totals[..., 1], 1)))

    def sentence_scores(self, statistics: FloatArray) -> FloatArray:
        """(n): the scores of the hypotheses."""
        return self.score(statistics)


def scores_with_each(metric: Metric, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
    """(references, hypotheses): the score of each hypothesis with each pseudo-reference as its only reference.

    A metric that reads sources has the source of the hypotheses as often as there are references.
    """
    statistics = metric.statistics([hypotheses] * len(references), [[reference] for reference in references])
    return metric.pair_scores(statistics).reshape(len(references), len(hypotheses))


def check_texts(hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> None:
    """Check the arguments of `Metric.statistics`.

    Raises TypeError where a text stands in place of a sequence of texts (it would be taken for a list of characters),
    FormatError for different numbers of segments and for a segment without reference.
    """
    for name, groups in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(groups, str):
            raise TypeError(f"{name}: expected a sequence of texts for each segment, found a single text")
        for segment, texts in enumerate(groups, 1):
            if isinstance(texts, str):
                text = f"for segment {segment} a single text, {texts[:40]!r}"
                raise TypeError(f"{name}: expected a sequence of texts for each segment, found {text}")
    if len(hypotheses) != len(references):
        raise FormatError(f"{len(hypotheses)} segments, but references for {len(references)}")
    for segment, texts in enumerate(references, 1):
        if not len(texts):
            raise FormatError(f"segment {segment} of {len(references)} has no reference; wanted one or more")


class TuningStep(NamedTuple):
    """One line of a tuner's progress: `score` is the metric on the tuning set at the current weights."""

    restart: int
    iteration: int
    score: float


@dataclass(frozen=True, eq=False)
class TuningData:
    """The data of a tuner: the features and statistics of the same rows, and the constraints on the weights.

    `statistics` (rows, S) of `metric`; `fixed`, `lower` and `upper` have one value per name of `table.all_names`;
    `hypotheses` are the texts the metric saw, per segment (for utilities between hypotheses), and `sources` the source
    sentences, where they are known, which some metrics read besides.
    """

    table: FeatureTable
    statistics: FloatArray
    metric: Metric
    fixed: BoolArray
    lower: FloatArray
    upper: FloatArray
    hypotheses: Sequence[Sequence[str]] = ()
    sources: Sequence[str | None] = ()

    def metric_of(self, segment: int) -> Metric:
        """The metric for one segment."""
        return self.metric.with_sources([self.sources[segment] if self.sources else None])


TuningReport = Callable[[TuningStep], None]


@dataclass(frozen=True, eq=False)
class TuningResult:
    """Tuned weights, one per name of `table.all_names`, and a record of the tuning.

    `score`     of the metric on the tuning set, for the 1-bests by these weights
    `decision`  "map" takes the highest weighted sum, "mbr" the highest expected utility under softmax(scale * sum),
                where the `evidence` hypotheses of highest sum stand for the list (0: all of them)
    `trace`     the score after each iteration
    `restarts`  the final weights of each restart; `restart_scores` are their scores
    `notes`     remarks for the user (sparse features left fixed, early stop, …)
    `margin`    the first hypothesis of a list is left only where another one leads it by more, in the unit of the
                weighted sums or expected utilities; 0 chooses the highest, infinity keeps the first everywhere
    """

    weights: FloatArray
    score: float
    decision: Literal["map", "mbr"] = "map"
    scale: float = 1.0
    evidence: int = 0
    trace: tuple[TuningStep, ...] = ()
    restarts: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    restart_scores: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    margin: float = 0.0

    def scores(self, table: FeatureTable) -> FloatArray:
        """(rows): the weighted sum of each row."""
        return table.scores(self.weights)


class Tuner(ABC):
    """An algorithm that chooses weights by the metric of the hypotheses that they select."""

    def quick(self) -> Tuner | None:
        """The tuner with the options by which it is fast enough to tune on many samples; None where there are none."""
        return None

    @property
    def usual_start(self) -> Literal["uniform", "decoder"]:
        """The start weights where nobody names others: 1 for each dense feature, or the decoder's own."""
        return "uniform"

    @abstractmethod
    def tune(
        self, data: TuningData, start: FloatArray, rng: np.random.Generator, report: TuningReport = lambda step: None
    ) -> TuningResult:
        """Tune the weights, from `start` (one per name of `table.all_names`); a fixed weight keeps its start value."""


class Rescored(NamedTuple):
    """What reranking adds to a list.

    `values` (n, len(names)) are those of the new features `names`, `scores` (n) the new totals, and `order` (n) the
    rows from best to worst.
    """

    names: tuple[str, ...]
    values: FloatArray
    scores: FloatArray
    order: Sequence[int]


class NBestFormat(ABC):
    """A file format of n-best lists. Lines include their line ends, so that a list is written as it was read.

    A format without a method `write` is read alone, and its lists are written in the format of Moses. `sign` is a
    regular expression, which is searched in the first 40 lines of a file, without empty ones: where no format is named,
    files that have it are read in this format. Where `reads_json` is True, lines are JSON objects, as which the rows of
    Parquet and Arrow files are read.
    """

    sign: ClassVar[str] = ""
    reads_json: ClassVar[bool] = False

    def spelling(self, text: str) -> str:
        """The text as the format writes it where it was not read from it: what separates lines or columns has no place.

        A text that the format can hold, as all texts in JSON, is returned as it is.
        """
        return text

    @abstractmethod
    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield a list for each run of lines with the same segment id. Raises FormatError with the path and line."""

    def read_folder(self, folder: str) -> Iterator[NBestList]:
        """Yield the lists of a folder, for formats whose lists are spread over files. Others raise FormatError."""
        raise FormatError("is a folder, expected a file", path=folder)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:  # noqa: ARG002
        """Yield the lines of a list: byte for byte as read, or in the new order with the new features and totals."""
        raise ConfigError("lists in this format are read, not written")
