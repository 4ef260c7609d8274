"""The extraction of a job: tables of lists in memory, columns of saved tables, lists one by one.

A table records the identity of each of its features. A column of a saved table serves again only where that is the
identity of the job's feature; otherwise the feature is extracted again, and a line is logged. A table that records no
extraction holds scores computed elsewhere: the decoder's features of the lists are put before them.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.features.extract import MAX_ROWS_OF_CHUNK, Counts, extract, groups_of
from rerank_adapters.features.feature import Feature, check_names, names_of
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.features.tables import (
    DESCRIPTIONS,
    HASH_OF_LISTS,
    RECORDED,
    check_same_lists,
    decoder_columns,
    described,
    hash_of_lists,
    in_order_of_lists,
    records_extraction,
)
from rerank_adapters.features.unknown_words import warn_of_lists
from rerank_adapters.formats.decoder_features import (
    RANK,
    RANKS_ADDED,
    DenseRule,
    decoder_table,
    without_scores,
)
from rerank_adapters.runtime.progress import ExtractionProgress, counted
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestList, __version__
from rerank_plugins.lists.decoder_order import DecoderScoreFeature, ReciprocalRankFeature

OF_THE_ORDER = (ReciprocalRankFeature, DecoderScoreFeature)  # extractors of features that represent the order
ROWS_OF_GROUP = 16 * MAX_ROWS_OF_CHUNK  # hypotheses of a stream that processes share out

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Extraction:
    """The features of a job, the format's rule for the decoder's own ones, and where the work is done.

    `record` gives the tables of a config that make the features again, for a file in a folder. With `ranks`,
    lists without scores have the ranks as a feature of the decoder, unless a feature represents the order. `warned`
    has the models about whose unknown words the user has been warned.
    """

    features: Sequence[Feature]
    rule: DenseRule | None = None
    processes: Processes = HERE
    record: Callable[[Path], Mapping[str, Any]] = lambda folder: {}
    ranks: bool = False
    warned: set[str] = field(default_factory=set, compare=False)

    def decoder_table(self, lists: Sequence[NBestList]) -> FeatureTable:
        """The decoder's own features."""
        return decoder_table(lists, self.rule, ranks=self._adds_ranks)

    def log_ranks(self, lists: Sequence[NBestList]) -> None:
        """Log that these lists get the ranks, if they do."""
        if self._adds_ranks and without_scores(lists):
            logger.info("rerank: %s", RANKS_ADDED)

    @property
    def _adds_ranks(self) -> bool:
        """Whether lists without scores get the ranks: no feature represents the order of the decoder."""
        return self.ranks and not represent_order(self.features)

    def table(
        self, lists: Sequence[NBestList], decoder: FeatureTable | None = None, *, folder: Path = Path()
    ) -> FeatureTable:
        """The decoder's features, then those of the job: a row for each hypothesis.

        `decoder` is the table of the decoder's features, which is made here if it is None; `folder` is where the table
        will be saved. Raises ConfigError for names that collide, and the errors of `extract`.
        """
        decoder = decoder or self.decoder_table(lists)
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        if decoder.segment_ids != tuple(n.segment_id for n in lists) or not np.array_equal(decoder.offsets, offsets):
            raise ConfigError("the decoder's table is not that of these n-best lists: their segments or sizes differ")
        check_names(self.features, decoder.all_names)
        names = names_of(self.features)
        values = np.empty((len(decoder.values), len(decoder.names) + len(names)))
        values[:, : len(decoder.names)] = decoder.values
        cached, used = Counts(int), set[str]()
        with ExtractionProgress(len(values)) as progress:

            def report(rows: int, seconds: Mapping[str, float]) -> None:
                progress(rows, seconds)
                if new := seconds.keys() - used:  # here the models are loaded, and most is still to be done
                    used.update(new)
                    warn_of_lists([feature for feature in self.features if feature.label in new], lists, self.warned)

            own = values[:, len(decoder.names) :]
            extract(lists, self.features, self.processes, report=report, cached=cached, out=own)
        _report_costs(progress, cached)
        provenance = {
            **decoder.provenance,
            "version": __version__,
            HASH_OF_LISTS: hash_of_lists(lists),
            DESCRIPTIONS: described(self.features),
            RECORDED: self.record(folder),
        }
        return replace(decoder, names=decoder.names + names, values=values, provenance=provenance)

    def stream(self, lists: Iterable[NBestList], *, at_once: bool = False) -> Iterator[tuple[NBestList, FeatureTable]]:
        """Yield each list with its own table of one segment, in bounded memory.

        With `at_once`, each list is yielded before the next one is read, and this process alone works.
        """
        check_names(self.features)
        processes = HERE if at_once else self.processes
        size = 1 if at_once else MAX_ROWS_OF_CHUNK if processes == HERE else ROWS_OF_GROUP
        cached = Counts(int)
        with ExtractionProgress() as progress:
            for group in groups_of(lists, size):
                values = extract(group, self.features, processes, report=progress, cached=cached)
                yield from self.tables_of(group, values)
        _report_costs(progress, cached)

    def tables_of(self, lists: Sequence[NBestList], values: FloatArray) -> Iterator[tuple[NBestList, FeatureTable]]:
        """Each list with its own table, by the values (hypotheses, columns) of all of them."""
        names = names_of(self.features)
        for nbest, (begin, end) in zip(lists, pairwise(np.cumsum([0, *map(len, lists)]).tolist()), strict=True):
            # The weights will show which features are dense, and whether the ranks are one of them.
            table = decoder_table([nbest], DenseRule(sparse=("*",)), ranks=self._adds_ranks)
            columns = np.hstack([table.values, values[begin:end]])
            yield nbest, replace(table, names=(*table.names, *names), values=columns)

    def columns(
        self, lists: Sequence[NBestList], table: FeatureTable, path: Path, *, folder: Path = Path(), all_columns: bool
    ) -> FeatureTable:
        """The decoder's columns of the table saved at `path`, then those of the features, in their order.

        Segments are matched by their ids. Without features, `all_columns` takes all of the table. Whether the table
        belongs to these lists is checked here only before an extraction, and where it records none or has another
        order; otherwise the caller checks it. Raises ConfigError where it does not, and all that `table` raises.
        """
        table = self._with_decoder(lists, in_order_of_lists(lists, table), path)
        if not self.features and all_columns:
            return table
        recorded = table.provenance.get(DESCRIPTIONS, {})
        if RANK in table.names and RANK not in recorded and represent_order(self.features) and without_scores(lists):
            kept = [column for column, name in enumerate(table.names) if name != RANK]  # a feature stands in its place
            table = replace(table, names=tuple(table.names[c] for c in kept), values=table.values[:, kept])
        new = [f for f in self.features if recorded.get(f.label, {}).get("identity") != f.identity]
        provenance = {**table.provenance, DESCRIPTIONS: described(self.features), RECORDED: self.record(folder)}
        names = decoder_columns(table, self.features)
        if not new and (*names, *names_of(self.features)) == table.names:  # without a copy
            return replace(table, provenance=provenance)
        values = table.values[:, [table.names.index(name) for name in names]]
        decoder = extracted = replace(table, names=tuple(names), values=values)
        if new:
            check_same_lists(lists, table)
            for feature in new:
                present = set(feature.names) & set(table.names)
                why = "was made with other options, files or code" if present else "is not in the table"
                logger.info("%s: the feature %r %s: it is extracted now", path, feature.label, why)
            extracted = replace(self, features=new).table(lists, decoder, folder=folder)
        chosen = [(extracted if feature in new else table, name) for feature in self.features for name in feature.names]
        own = [origin.values[:, origin.names.index(name)] for origin, name in chosen]
        columns = np.column_stack([decoder.values, *own])
        return replace(decoder, names=(*names, *(n for _, n in chosen)), values=columns, provenance=provenance)

    def _with_decoder(self, lists: Sequence[NBestList], table: FeatureTable, path: Path) -> FeatureTable:
        """The table, with the decoder's features that it lacks before its columns where it records no extraction.

        Raises ConfigError for a table of other lists, and for a column that has the name of a feature with other
        values.
        """
        if records_extraction(table):
            return table
        check_same_lists(lists, table)
        decoder = self.decoder_table(lists)
        own = dict(zip(table.names, table.values.T, strict=True))
        known = dict(zip(decoder.names, decoder.values.T, strict=True))
        for name in own:
            if name in decoder.sparse.names or (name in known and not np.array_equal(known[name], own[name])):
                message = f"its column {name!r} has other values than that feature of the lists: give it another name"
                raise ConfigError(f"{path}: {message}")
        columns = {name: values for name, values in known.items() if name not in table.all_names}
        sparse = table.sparse if table.sparse.names else decoder.sparse
        if columns or sparse.names != table.sparse.names:
            logger.info("%s: besides its columns, the decoder's features are taken from the lists", path)
        values = np.column_stack([*columns.values(), table.values])
        return replace(table, names=(*columns, *table.names), values=values, sparse=sparse)


def represent_order(features: Iterable[Feature]) -> bool:
    """Whether one of the features represents the order of the decoder."""
    return any(isinstance(feature.extractor, OF_THE_ORDER) for feature in features)


def _report_costs(progress: ExtractionProgress, cached: Counts) -> None:
    by_rows = defaultdict[int, list[str]](list)
    for label, rows in cached.items():
        by_rows[rows].append(label)
    if by_rows:
        taken = (
            f"{', '.join(names)} of {counted(rows, 'hypothesis', 'hypotheses')}" for rows, names in by_rows.items()
        )
        logger.info("features in the cache: %s", "; ".join(taken))
    if costs := progress.costs():
        logger.info(costs)
