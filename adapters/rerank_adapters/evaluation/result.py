"""What an evaluation found: plain values, written as JSON and read back, with all that is needed to repeat it."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal

from rerank_adapters.evaluation.significance import Interval
from rerank_plugins.errors import FormatError


@dataclass(frozen=True)
class Comparison:
    """A system against the baseline, by one metric.

    `difference`       score minus the baseline's score, whatever direction is better
    `interval`         of the difference; None without a bootstrap, as are `bootstrap_p` and `better`
    `better`           share of the resamples in which the system beats the baseline (Koehn 2004)
    `randomisation_p`  None without trials
    `wins`, `losses`, `ties`  segments that are better, worse and equal by sentence score
    """

    difference: float
    interval: Interval | None
    bootstrap_p: float | None
    randomisation_p: float | None
    better: float | None
    wins: int
    losses: int
    ties: int

    def below(self, level: float) -> bool:
        """Whether every test that was run gives a p-value below `level` (False if none was)."""
        p_values = [p for p in (self.bootstrap_p, self.randomisation_p) if p is not None]
        return bool(p_values) and max(p_values) < level


@dataclass(frozen=True)
class SystemScore:
    """A system by one metric: corpus score, its interval, the comparison (None for the baseline), the smoothed
    sentence score of every segment, the corpus score of every length bucket.
    """

    system: str
    score: float
    interval: Interval | None
    comparison: Comparison | None
    sentence_scores: tuple[float, ...]
    bucket_scores: tuple[float, ...]


@dataclass(frozen=True)
class OracleScores:
    """The best and the worst corpus score that the lists allow; "search" is a bound from inside."""

    best: float
    worst: float
    kind: Literal["exact", "search"]


@dataclass(frozen=True)
class MetricResult:
    """All systems by one metric. `signature` is in sacrebleu's form."""

    name: str
    signature: str
    higher_is_better: bool
    systems: tuple[SystemScore, ...]
    oracle: OracleScores | None

    def of(self, system: str) -> SystemScore:
        """The scores of the system of that name."""
        return next(score for score in self.systems if score.system == system)

    def gain(self, difference: float) -> float:
        """A difference of scores, positive where it is for the better."""
        return difference if self.higher_is_better else -difference


@dataclass(frozen=True)
class Bucket:
    """Segments whose references have `shortest` to `longest` words."""

    shortest: int
    longest: int
    segments: tuple[int, ...]

    @property
    def label(self) -> str:
        """As `5-9`, or `5`."""
        return str(self.shortest) if self.shortest == self.longest else f"{self.shortest}-{self.longest}"


@dataclass(frozen=True)
class Segment:
    """One segment: `outputs` has a text for each of `Evaluation.systems`."""

    segment_id: str
    source: str | None
    references: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """The whole result. `bootstrap` and `randomisation` are numbers of resamples and trials; `text` names the text
    pipeline; `length_ratios` are words of a system per word of the (first) references.
    """

    version: str
    seed: int
    bootstrap: int
    randomisation: int
    text: str
    baseline: str
    systems: tuple[str, ...]
    length_ratios: tuple[float, ...]
    metrics: tuple[MetricResult, ...]
    buckets: tuple[Bucket, ...]
    segments: tuple[Segment, ...]

    def to_dict(self) -> dict[str, Any]:
        """Dictionaries, lists, strings and numbers."""
        return dataclasses.asdict(self)

    def to_json(self) -> str:
        """One JSON object; `from_json` gives the same evaluation back."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, path: str = "") -> Evaluation:
        """Raises FormatError for JSON that is not an evaluation."""
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json(text)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise FormatError(f"not an evaluation: {where or 'JSON'}: {problem['msg']}", path=path) from None
