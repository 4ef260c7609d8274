"""Reranks n-best lists by weights: the same for lists from files, from memory and from pipes.

The highest weighted sum wins or, under MBR, the highest expected utility; of equal totals the earlier one wins, so that
the decoder's order decides where the weights do not. Where the weights have a margin, the 1-best is replaced only for a
total that exceeds its own by more (tuners/margin.py). Multiplying all weights, and the margin, by c > 0 changes nothing
under "map"; under "mbr" the scale of the posterior is a setting of its own. Cost: O(rows · features) for the sums,
O(rows · log n) for the orders; MBR adds the utilities, n² or n · `evidence` per list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from rerank_adapters.data.unlike import ListFacts
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.extract import extracted
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature, check_names, names_of
from rerank_adapters.features.tables import RECORDED, check_same_lists
from rerank_adapters.formats.decoder_features import DenseRule, align
from rerank_adapters.job.job import Job
from rerank_adapters.rows import Rows
from rerank_adapters.tuners.margin import with_margin
from rerank_adapters.tuners.mbr_decision import expected_scores
from rerank_adapters.tuning.selection import SELECTION
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import (
    ConfigError,
    FeatureTable,
    FloatArray,
    FormatError,
    Hypothesis,
    NBestFormat,
    NBestList,
    RerankError,
    Rescored,
)
from rerank_plugins.core.nbest import SHOWN_ROWS
from rerank_plugins.core.plugins import Registry
from rerank_plugins.core.sentences import check_lists

TOTALS = "totals"  # the key of a provenance under which weights record whether the lists of the tuning had totals
EXAMPLE = NBestList("example", (Hypothesis("This is a test .", score=0.0),), source="This is a test .")

Pair = tuple[NBestList, FeatureTable]  # a list, and the table of its features alone


def rerank(
    pairs: Iterable[Pair],
    weights: Weights,
    measure: Measure | None,
    *,
    features: Sequence[Feature] = (),
    form: NBestFormat | None = None,
    advice: str = "",
    facts: ListFacts | None = None,
) -> Iterator[tuple[NBestList, Rescored]]:
    """Yield each list with its new order, and with the values of those features that are not the decoder's.

    `measure` is the metric of an MBR decision, whose totals are expected utilities (higher is better, for error metrics
    too); other decisions need none. `features` are those that were extracted, and `form` is the format of the lists,
    which says whether absent features are 0. Every list is added to the `facts`, if any.

    Raises ConfigError where the weights are for other features than a table has, with `advice` where features are
    missing, and where a feature reads totals that only these lists or only those of the tuning had; RerankError for a
    total that is not a number.
    """
    added = set(names_of(features)) if RECORDED in weights.provenance else None
    for nbest, table in pairs:
        _check_totals(nbest, weights, features)
        in_order, vector = weighted(nbest, table, weights, form, advice)
        totals = in_order.scores(vector)
        if weights.decision == "mbr":
            if measure is None:
                raise ConfigError("the weights choose by expected utilities, but no metric is given for them")
            metric, texts = measure.metric.with_sources([nbest.source]), measure.text.apply(nbest.texts)
            totals = expected_scores(totals, texts, metric, weights.scale, weights.evidence or None)
        totals = with_margin(totals, np.array([0, len(totals)]), weights.margin)
        if np.isnan(totals).any():
            raise RerankError(f"segment {nbest.segment_id}: the total of a hypothesis is not a number")
        order = np.argsort(-totals, kind="stable").tolist()
        if facts is not None:
            facts.add(nbest, in_order.names, in_order.values, changed=order[0] != 0)
        known = set(nbest.feature_names).union(*nbest.sparse)
        new = [
            column
            for column, name in enumerate(in_order.names)
            if name not in known and (added is None or name in added)
        ]
        names = tuple(in_order.names[column] for column in new)
        yield nbest, Rescored(names, in_order.values[:, new], totals, order)


def weighted(
    nbest: NBestList, table: FeatureTable, weights: Weights, form: NBestFormat | None = None, advice: str = ""
) -> tuple[FeatureTable, FloatArray]:
    """The table of a list with the features of the weights in their order, and the weights as a vector.

    Features that a selection before the tuning has left out are dropped. Raises ConfigError as `rerank` does.
    """
    if left_out := _left_out(table.names, weights):
        kept = [column for column, name in enumerate(table.names) if name not in left_out]
        table = replace(table, names=tuple(table.names[column] for column in kept), values=table.values[:, kept])
    dense = weights.dense_for(table.all_names, frozenset(table.sparse.names))
    sparse = [name for name in table.all_names if name in weights.sparse]  # only those of the many that this list has
    rule: DenseRule | None = getattr(form, "dense_rule", None)  # known to some formats once they have read a list
    try:
        in_order = align(table, tuple(dense), sparse, absent_is_zero=bool(rule and rule.absent_is_zero))
    except ConfigError as error:
        origin = weights.provenance.get("file", "weights")
        message = f"{origin}: not the weights for these lists: segment {nbest.segment_id}: {error}"
        raise ConfigError(message + advice * bool(dense.keys() - {*table.all_names})) from None
    return in_order, np.array([*dense.values(), *(weights.sparse[name] for name in sparse)], np.float64)


def _left_out(names: Sequence[str], weights: Weights) -> set[str]:
    """Those columns that belong to features which the weights record as left out by a selection."""
    labels: list[str] = []
    with suppress(LookupError, TypeError):  # most weights record none, and one may be edited by hand
        record = weights.provenance[SELECTION]
        labels = [*(step["family"] for step in record["steps"][record["kept"] :]), *record["untried"]]
    owned = {name for name in names if any(name == label or name.startswith(f"{label}.") for label in labels)}
    return owned - weights.dense.keys()


def _check_totals(nbest: NBestList, weights: Weights, features: Sequence[Feature]) -> None:
    """Raise ConfigError where a feature reads totals, and either this list or the lists of the tuning had none."""
    record = weights.provenance.get(TOTALS)
    if record is None or not len(nbest) or (nbest[0].score is not None) == record["present"]:
        return
    label = next((feature.label for feature in features if feature.extractor.reads_totals), None)
    if label is not None:
        tuned, here = ("had totals", "has none") if record["present"] else ("had no totals", "has some")
        lists = f"the lists that the weights were tuned on {tuned}, which {label!r} reads"
        raise ConfigError(f"{lists}; segment {nbest.segment_id} {here}")


def pairs_of(lists: Sequence[NBestList], table: FeatureTable) -> Iterator[Pair]:
    """Yield each list with its own segment of a table. Raises ConfigError for a table of other lists."""
    check_same_lists(lists, table)
    for segment, nbest in enumerate(lists):
        own, _ = table.take_segments([segment])
        used, indices = np.unique(own.sparse.indices, return_inverse=True)  # each list has few of the sparse features
        names = tuple(own.sparse.names[column] for column in used)
        yield nbest, replace(own, sparse=replace(own.sparse, names=names, indices=indices.astype(np.int32)))


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
