"""The facts of a run beside its evaluation: its tuning, what families of features contribute, and segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rerank_adapters.tuning.families import Contributions
from rerank_adapters.tuning.held_out import HeldOutGain
from rerank_adapters.tuning.weight_intervals import WeightIntervals


@dataclass(frozen=True)
class ListLengths:
    """Scores by the first metric where each list is cut to its first n hypotheses, for the `lengths` n.

    `oracle` are the best scores that a choice from the cut lists has (a search may miss the best for metrics that do
    not add up over segments), `reranked` those of the choices by the tuned weights; the latter are empty for decisions
    by expected utility, which depend on the whole list.
    """

    lengths: tuple[int, ...]
    oracle: tuple[float, ...]
    reranked: tuple[float, ...]


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run, each of which may be missing.

    `job`           the name of the job, as of its config file
    `system`        the name of the system with all features in the evaluation
    `tuner`, `tuning_score`, `tuned_at`  how, to which score of the first metric, and when the weights were tuned
    `curve`         the score on the tuning set after each iteration, by restart
    `held_out`      the gain of the system over the 1-bests on held-out tuning lists
    `explanations`  by segment, a record of why the new 1-best beats the decoder's (report/explanation.py)
    """

    job: str = ""
    system: str = ""
    tuner: str = ""
    tuning_score: float | None = None
    tuned_at: str = ""
    contributions: Contributions | None = None
    weights: WeightIntervals = WeightIntervals()
    curve: tuple[tuple[float, ...], ...] = ()
    lists: ListLengths | None = None
    held_out: HeldOutGain | None = None
    explanations: Mapping[str, Any] = field(default_factory=dict)
