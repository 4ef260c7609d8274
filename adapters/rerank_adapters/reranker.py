"""Lists in their new order, and weights with their features for programs that have one sentence at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from rerank_adapters.apply import rerank
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.extract import extracted
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature, check_names
from rerank_adapters.job.job import Job
from rerank_adapters.rows import Rows
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import ConfigError, FormatError, Hypothesis, NBestFormat, NBestList, Rescored
from rerank_plugins.core.nbest import SHOWN_ROWS
from rerank_plugins.core.plugins import Registry
from rerank_plugins.core.sentences import check_lists

EXAMPLE = NBestList("example", (Hypothesis("This is a test .", score=0.0),), source="This is a test .")


@dataclass(frozen=True)
class RankedHypothesis:
    """A hypothesis in its new position: its text, its total by the weights (higher is better), its old row, from 0."""

    text: str
    score: float
    row: int


@dataclass(frozen=True, repr=False)
class Reranked(Sequence[RankedHypothesis]):
    """A list in its new order, best first; `nbest` is the list as it was, `rescored` has the values of its features.

    >>> nbest = NBestList.from_texts(["so is it", "so it is"], segment_id="7")
    >>> reranked = Reranked(nbest, Rescored((), np.zeros((2, 0)), np.array([0.5, 1.5]), [1, 0]))
    >>> reranked
    Reranked '7': 2 hypotheses
       1       1.5  so it is
       0       0.5  so is it
    >>> reranked.best, reranked.order, reranked.scores
    ('so it is', [1, 0], [1.5, 0.5])
    """

    nbest: NBestList
    rescored: Rescored

    def __len__(self) -> int:
        return len(self.nbest)

    def __repr__(self) -> str:
        """A short table: the segment, and its first hypotheses in the new order with their totals and old rows."""
        count = f"{len(self)} hypothesis" if len(self) == 1 else f"{len(self)} hypotheses"
        lines = [f"Reranked {self.segment_id!r}: {count}"]
        lines += [f"{one.row:4d}{one.score:10.4g}  {one.text}" for one in self[:SHOWN_ROWS]]
        return "\n".join([*lines, *(["   …"] if len(self) > SHOWN_ROWS else [])])

    @property
    def segment_id(self) -> str:
        """The id of the segment."""
        return self.nbest.segment_id

    @property
    def order(self) -> list[int]:
        """The old rows (from 0), best first."""
        return [int(row) for row in self.rescored.order]

    @property
    def scores(self) -> list[float]:
        """The totals by the weights, best first."""
        return [float(self.rescored.scores[row]) for row in self.rescored.order]

    @overload
    def __getitem__(self, place: int) -> RankedHypothesis: ...
    @overload
    def __getitem__(self, place: slice) -> list[RankedHypothesis]: ...
    def __getitem__(self, place: int | slice) -> RankedHypothesis | list[RankedHypothesis]:
        """The hypothesis at this index, or those of a slice."""
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        row = int(self.rescored.order[place])
        return RankedHypothesis(self.nbest[row].text, float(self.rescored.scores[row]), row)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each hypothesis, best first.

        Its columns are `segment`, `row` (the old one, from 0), `text` and `score`. The frame of several lists is
        `pandas.concat([one.to_pandas() for one in reranked])`. Raises ConfigError where pandas is not installed.
        """
        rows = [(self.segment_id, one.row, one.text, one.score) for one in self]
        return Rows(["segment", "row", "text", "score"], rows).to_pandas()

    @property
    def best(self) -> str:
        """The text of the new 1-best."""
        return self.nbest[self.rescored.order[0]].text

    @property
    def texts(self) -> list[str]:
        """The texts, best first."""
        return [self.nbest[row].text for row in self.rescored.order]


class Reranker:
    """Weights with the extractors of their features, for programs that have hypotheses in memory.

    Models are loaded with the first list, or by `warm_up`, and once. Everything happens in this process, and no cache
    of feature values is read or written. The methods are not safe to call from several threads at once: give each
    process or thread a reranker of its own.

    >>> from rerank_plugins.lists.length import LengthFeature
    >>> Reranker(Weights({"length": 1.0}), [Feature("length", LengthFeature())]).rerank(["so", "so it is"]).best
    'so it is'
    """

    def __init__(
        self,
        weights: Weights,
        features: Sequence[Feature],
        measure: Measure | None = None,
        form: NBestFormat | None = None,
    ) -> None:
        """A reranker of weights and of the features that they are for; see `rerank`.

        Raises ConfigError for two columns of one name.
        """
        self.weights, self.features, self.measure, self.form = weights, features, measure, form
        check_names(features)

    @classmethod
    def load(cls, path: str | Path, registry: Registry | None = None) -> Reranker:
        """The reranker of a weights file, which records all that makes its features again.

        Raises FormatError for a damaged file, ConfigError and PluginError where its features cannot be rebuilt.
        """
        if registry is None:
            from rerank_adapters.builtin import BUILTIN
            from rerank_plugins.core.loader import load_plugins

            registry = load_plugins(BUILTIN)
        weights = read_weights(path)
        job = Job.of_record(weights.provenance, Path(path), registry)
        measure = job.measures[0] if weights.decision == "mbr" else None
        return cls(weights, job.features(), measure, job.format)

    def rerank(
        self,
        hypotheses: NBestList | Sequence[str | Hypothesis],
        *,
        source: str | None = None,
        context: str | None = None,
        scores: Sequence[float] | None = None,
        features: Mapping[str, Sequence[float]] | None = None,
    ) -> Reranked:
        """Rerank one list: texts in the decoder's order, best first, or a list that a format has read.

        `scores` are the decoder's totals, `features` its features by name, one value per hypothesis; higher is better.
        `source` and `context` stand for those of an NBestList, if given. Raises FormatError for a list without
        hypotheses or with another number of values, ConfigError, with the name of the feature, where a feature needs a
        source, totals or features that the list does not have, or reads totals that the tuning lists did not have.
        """
        nbest = (
            hypotheses
            if isinstance(hypotheses, NBestList)
            else NBestList.from_texts(hypotheses, scores, segment_id="0", features=features)
        )
        if source is not None:
            nbest = replace(nbest, source=source)
        if context is not None:
            nbest = replace(nbest, context=context)
        return next(self.rerank_all([nbest]))

    def rerank_all(self, nbests: Sequence[NBestList]) -> Iterator[Reranked]:
        """Yield each list in its new order; the features of all of them are extracted at once, which is cheaper."""
        check_lists(nbests)
        for nbest in nbests:
            if not len(nbest):
                raise FormatError(f"segment {nbest.segment_id} has no hypotheses to choose from")
        if not nbests:
            return
        columns = [np.concatenate(extracted(feature, nbests)) for feature in self.features]
        values = np.hstack([np.empty((sum(map(len, nbests)), 0)), *columns])
        pairs = Extraction(self.features, ranks=True).tables_of(nbests, values)
        for one in rerank(pairs, self.weights, self.measure, features=self.features, form=self.form):
            yield Reranked(*one)

    def warm_up(self, nbest: NBestList = EXAMPLE) -> None:
        """Load the models and compile the kernels by extracting the features of a list.

        Features that need more than that list has (the decoder's features) load theirs with the first
        list that has it. Raises ModelError for a model that is missing or damaged.
        """
        for feature in self.features:
            with suppress(ConfigError):
                extracted(feature, [nbest])
