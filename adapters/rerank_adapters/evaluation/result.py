"""The result of an evaluation: plain values that JSON can hold, with all that is needed to repeat it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, NamedTuple

import numpy as np

from rerank_adapters.evaluation.comparisons import Comparison
from rerank_adapters.evaluation.errors import ErrorCounts
from rerank_adapters.evaluation.groups import Bucket, Group
from rerank_adapters.evaluation.significance import Interval
from rerank_plugins import ConfigError, FormatError


@dataclass(frozen=True)
class SystemScore:
    """The scores of a system by one metric: the corpus score with its interval, the comparison (None for the baseline),
    the smoothed sentence score of each segment, and the corpus score of each length bucket and of each group.
    """

    system: str
    score: float
    interval: Interval | None
    comparison: Comparison | None
    sentence_scores: tuple[float, ...] = field(repr=False)
    bucket_scores: tuple[float, ...] = field(repr=False)
    group_scores: tuple[float, ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class OracleScores:
    """The best and the worst corpus score that the lists allow; those of a "search" may lie further out."""

    best: float
    worst: float
    kind: Literal["exact", "search"]


@dataclass(frozen=True)
class PairedComparison:
    """A system compared with another one, `over`, that is not the baseline."""

    system: str
    over: str
    comparison: Comparison


@dataclass(frozen=True)
class MetricResult:
    """The scores of all systems by one metric. `signature` has the form of sacrebleu's.

    `errors` has the kinds of errors of each system where the metric is an error rate of words or characters; `pairs`
    are comparisons besides those with the baseline.
    """

    name: str
    signature: str
    higher_is_better: bool
    systems: tuple[SystemScore, ...]
    oracle: OracleScores | None
    errors: tuple[ErrorCounts, ...] = ()
    pairs: tuple[PairedComparison, ...] = ()

    def of(self, system: str) -> SystemScore:
        """The scores of the system of that name."""
        return next(score for score in self.systems if score.system == system)

    def gain(self, difference: float) -> float:
        """A difference of scores with the sign that makes an improvement positive."""
        return difference if self.higher_is_better else -difference


@dataclass(frozen=True)
class Segment:
    """One segment; `outputs` has the text of each of `Evaluation.systems`."""

    segment_id: str
    source: str | None
    references: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The whole result. `bootstrap` and `randomisation` are the numbers of resamples and trials, `text` names the text
    pipeline, and `length_ratios` are the numbers of words of each system per word of the (first) references. `unit` is
    what resamples are drawn of and trials swap: segments, or whole groups.

    As text it has one line per system; `rerank_adapters.report` makes the full tables.

    >>> from rerank_adapters import evaluate
    >>> result = evaluate({"first": ["so is it"], "best": ["so it is"]}, ["so it is"], metrics="wer")
    >>> [(record["system"], round(record["score"], 1)) for record in result.records()]
    [('first', 66.7), ('best', 0.0)]
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
    groups: tuple[Group, ...] = ()
    unit: Literal["segments", "groups"] = "segments"

    @property
    def rule_of_stars(self) -> str:
        """A sentence that defines when a difference has a star; empty where no test was run."""
        if not (self.bootstrap or self.randomisation):
            return ""
        interval = "its 95 % interval excludes zero and " if self.bootstrap else ""
        tests = "both tests give" if self.bootstrap and self.randomisation else "the test gives"
        return f"A difference has * where {interval}{tests} p below .05, and ** where p is below .01 as well."

    def __str__(self) -> str:
        """One line per system: its scores, with their differences to the baseline in brackets."""
        names = max(map(len, self.systems))
        lines = [f"{len(self.segments)} segments, differences to {self.baseline}"]
        for system in self.systems:
            cells = [_score_and_difference(metric, system) for metric in self.metrics]
            lines.append(f"{system:<{names}}  {'  '.join(cells)}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The same as `str`, so that an interactive session shows scores and not all numbers of the result."""
        return str(self)

    def records(self) -> list[dict[str, Any]]:
        """A record for each metric and system: its score and interval, and the comparison with the baseline."""
        records = []
        for metric in self.metrics:
            for system in metric.systems:
                low, high = system.interval or (None, None)
                compared = system.comparison
                difference_low, difference_high = (compared and compared.interval) or (None, None)
                records.append(
                    {
                        "metric": metric.name,
                        "system": system.system,
                        "score": system.score,
                        "low": low,
                        "high": high,
                        "difference": compared and compared.difference,
                        "difference_low": difference_low,
                        "difference_high": difference_high,
                        "p_bootstrap": compared and compared.bootstrap_p,
                        "p_randomisation": compared and compared.randomisation_p,
                        "resamples_won": compared and compared.better,
                        "wins": compared and compared.wins,
                        "losses": compared and compared.losses,
                        "ties": compared and compared.ties,
                        "stars": compared.stars if compared else "",
                        "signature": metric.signature,
                    }
                )
        return records

    def to_pandas(self) -> Any:
        """The records as a pandas frame. Raises ConfigError where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            wanted = "a table for pandas needs pandas: pip install 'rerank-plugins[frames]'"
            raise ConfigError(f"{wanted}; `records()` needs nothing") from None
        return pandas.DataFrame(self.records())

    def _repr_html_(self) -> str:
        """The table of scores for a notebook, with differences to the baseline and their 95 % intervals."""
        header = [f"{metric.name} {'↑' if metric.higher_is_better else '↓'}" for metric in self.metrics]
        rows = [[system, *(_html_cell(metric.of(system)) for metric in self.metrics)] for system in self.systems]
        for name, kind in (("oracle", "best"), ("anti-oracle", "worst")):
            if any(metric.oracle for metric in self.metrics):
                bounds = [f"{getattr(metric.oracle, kind):.2f}" if metric.oracle else "" for metric in self.metrics]
                rows.append([name, *bounds])
        cells = "".join(f"<th>{escape(name)}</th>" for name in ("system", *header))
        lines = "".join(
            f"<tr><th>{escape(name)}</th>{''.join(f'<td>{cell}</td>' for cell in own)}</tr>" for name, *own in rows
        )
        note = f"{len(self.segments)} segments, differences to {self.baseline}. {self.rule_of_stars}"
        return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table><p>{escape(note)}</p>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as dictionaries, lists, strings, numbers and None, ready for JSON.

        Each comparison also has its `stars`; `rule_of_stars` defines them.
        """
        from pydantic import TypeAdapter

        values = {"rule_of_stars": self.rule_of_stars, **TypeAdapter(Evaluation).dump_python(self, mode="json")}
        for metric, result in zip(values["metrics"], self.metrics, strict=True):
            for system, scores in zip(metric["systems"], result.systems, strict=True):
                if scores.comparison is not None:
                    system["comparison"]["stars"] = scores.comparison.stars
        return values

    def to_json(self) -> str:
        """One JSON object, from which `from_json` reads the same evaluation."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, path: str = "") -> Evaluation:
        """The evaluation in the text. Raises FormatError for JSON that is not an evaluation."""
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json(text)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(part) for part in problem["loc"])
            raise FormatError(f"not an evaluation: {where or 'JSON'}: {problem['msg']}", path=path) from None


def _html_cell(scores: SystemScore) -> str:
    half = f" ±{scores.interval.half_width:.2f}" if scores.interval else ""
    compared = scores.comparison
    if compared is None:
        return f"{scores.score:.2f}{half}"
    interval = f" {compared.interval.written}" if compared.interval else ""
    return f"{scores.score:.2f}{half}<br>{compared.difference:+.2f}{compared.stars}{interval}"


def _score_and_difference(metric: MetricResult, system: str) -> str:
    scores = metric.of(system)
    compared = scores.comparison
    difference = "" if compared is None else f" ({compared.difference:+.2f}{compared.stars})"
    return f"{metric.name} {scores.score:.2f}{difference}"


class Change(NamedTuple):
    """A segment whose output changed, with the sentence scores and the texts of the baseline and of the system."""

    segment: Segment
    baseline_score: float
    system_score: float
    baseline: str
    system: str


def most_changed(evaluation: Evaluation, metric: MetricResult, system: str, count: int) -> list[Change]:
    """The `count` segments whose sentence score differs most from the baseline's, largest difference first.

    Segments whose text did not change are left out.
    """
    before, after = (metric.of(name).sentence_scores for name in (evaluation.baseline, system))
    old, new = evaluation.systems.index(evaluation.baseline), evaluation.systems.index(system)
    changes: list[Change] = []
    for place in places_by_change(evaluation, metric, system):
        texts = evaluation.segments[place].outputs
        if len(changes) == count:
            break
        if texts[old] != texts[new]:
            changes.append(Change(evaluation.segments[place], before[place], after[place], texts[old], texts[new]))
    return changes


def places_by_change(evaluation: Evaluation, metric: MetricResult, system: str) -> list[int]:
    """The places of all segments: that whose sentence score differs most from the baseline's comes first.

    Of equal differences, those of segments whose text changed come first.
    """
    before, after = (np.array(metric.of(name).sentence_scores) for name in (evaluation.baseline, system))
    old, new = evaluation.systems.index(evaluation.baseline), evaluation.systems.index(system)
    same = np.array([segment.outputs[old] == segment.outputs[new] for segment in evaluation.segments], bool)
    places: list[int] = np.lexsort((same, -np.abs(after - before))).tolist()
    return places
