"""How weights are tuned: by which tuner, for which metric, from which start, and under which constraints.

Features belong to families: the decoder's, and each extracted feature with all its columns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.formats.decoder_features import RANK
from rerank_adapters.job.config import Tuning
from rerank_adapters.tuners.margin import Margin
from rerank_adapters.tuners.mira import Mira
from rerank_adapters.tuning.problem import TextsOfLists, prepare, statistics_of
from rerank_adapters.tuning.selection import Selecting
from rerank_adapters.tuning.start import start_vector
from rerank_adapters.weights import read_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, Tuner, TuningData

DECODER = "decoder"  # the family of the features that were not extracted
NAMED_STARTS = ("uniform", "decoder")  # other starts are tables or files of weights


@dataclass(frozen=True)
class Method:
    """How weights are tuned, whatever the lists.

    `measure`   the metric, with the text steps before it
    `settings`  the start, the constraints and the selection; a start that is a file is named relative to here
    `columns`   by label, the columns of each extracted feature; all other columns are the decoder's
    `margin`    by which a hypothesis must lead the 1-best, in units of `unit_of_leads`
    `seed`      of the tuner's random choices and of the folds
    `processes` tune on folds and samples; no result depends on their number
    """

    tuner: Tuner
    measure: Measure
    settings: Tuning
    columns: Mapping[str, Sequence[str]]
    margin: Margin = 0.0
    seed: int = 1
    processes: Processes = HERE

    @property
    def extracted(self) -> list[str]:
        """The columns of all extracted features."""
        return [name for names in self.columns.values() for name in names]

    @property
    def fast_tuner(self) -> Tuner:
        """The tuner that measures families in place of `tuner`: itself where it can be quick, otherwise MIRA."""
        return self.tuner.quick() or Mira()

    def families(self, table: FeatureTable) -> dict[str, list[str]]:
        """The columns of the table by family: those of the decoder, then those of each feature, by its label."""
        extracted = set(self.extracted)
        decoder = [name for name in table.all_names if name not in extracted]
        by_label = {label: list(names) for label, names in self.columns.items()}
        return {**({DECODER: decoder} if decoder else {}), **by_label}

    def without(self, labels: Collection[str]) -> Method:
        """The same method without the features of these labels and the constraints on their weights."""
        left_out = {name for label in labels for name in self.columns[label]}
        columns = {label: names for label, names in self.columns.items() if label not in labels}
        return replace(self, settings=self.settings.without(left_out), columns=columns)

    def selecting(self, tuner: Tuner, table: FeatureTable) -> Tuner:
        """The tuner itself, or, where families are selected, one that does so before it tunes."""
        return self.selection(tuner, table) if self.settings.select else tuner

    def selection(self, tuner: Tuner, table: FeatureTable) -> Selecting:
        """The tuner after a selection of families."""
        folds, margin = self.settings.select_folds, self.settings.select_margin
        return Selecting(tuner, self.fast_tuner, self.families(table), [DECODER], folds, margin, self.processes)

    def problem(
        self, lists: Sequence[NBestList], references: Sequence[Sequence[str]], table: FeatureTable
    ) -> TuningData:
        """What the tuner sees: the table, and the statistics of the metric for each hypothesis of the lists.

        Raises ConfigError where there is nothing to choose from, and as `prepare` does.
        """
        if not any(text.strip() for nbest in lists for text in nbest.texts):
            raise ConfigError("all hypotheses of the tuning lists are empty: there is nothing to choose from")
        return prepare(
            table,
            statistics_of(lists, references, self.measure),
            self.measure.metric,
            hypotheses=TextsOfLists(self.measure.text, lists),
            sources=[nbest.source for nbest in lists],
            fixed=self.settings.fixed,
            lower=self.settings.lower,
            upper=self.settings.upper,
        )

    def named_start(self, tuner: Tuner | None = None) -> str | Mapping[str, float]:
        """Where a tuner starts: what the settings name, or else its usual start."""
        start = self.settings.start
        return (tuner or self.tuner).usual_start if start is None else start

    def start(
        self,
        lists: Sequence[NBestList],
        table: FeatureTable,
        start: str | Mapping[str, float] | None = None,
        *,
        tuner: Tuner | None = None,
    ) -> FloatArray:
        """The start vector of a tuner (`tuner` of this method where none is given), or the one that `start` names.

        Extracted features that a weights file lacks, as a file of decoder weights does, start from 0. So do all
        features where the lists have none of the decoder's and its weights are only the usual start. Raises ConfigError
        as `start_vector` does, and what `read_weights` raises.
        """
        added = {*self.extracted, RANK}
        decoder = [name for name in table.names if name not in added]
        if start is None:
            start = self.named_start(tuner)
            if start == "decoder" and self.settings.start is None and not decoder and not table.sparse.names:
                return np.zeros(len(table.names))
        if isinstance(start, str) and start not in NAMED_STARTS:
            weights = read_weights(start)
            new = {name: 0.0 for name in table.names if name in added and name not in weights.dense}
            return replace(weights, dense={**weights.dense, **new}).vector_for(table)
        totals = np.concatenate([nbest.totals for nbest in lists])
        return start_vector(table, start, totals, decoder_features=decoder)

    def baselines(self, lists: Sequence[NBestList], table: FeatureTable) -> dict[str, FloatArray]:
        """Weights that need no tuning: those of the 1-best, equal ones, and the decoder's where its totals tell them.

        The decoder's 1-best is what weights of zero choose: all hypotheses tie, and the first of equals wins.
        """
        equal = self.start(lists, table, "uniform")
        baselines = {"1-best": np.zeros_like(equal), "equal weights": equal}
        with suppress(ConfigError):  # lists without totals, or totals that are no weighted sum of the features
            baselines["decoder's weights"] = self.start(lists, table, "decoder")
        return baselines
