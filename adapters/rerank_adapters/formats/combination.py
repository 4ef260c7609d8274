"""Combines the lists of different decoders: system combination, in which the reranker chooses among all hypotheses.

The features of a combined list are those of each decoder in turn, and after them three of its own: `NAME-score`, the
decoder's total, where its lists have totals; `NAME-rank`, 1 / rank in its list; and `NAME-listed`, 1 for the hypotheses
of this decoder. In the hypotheses that a decoder did not list, its features and its total have the lowest value of its
list (0 where it has no list for the segment), and the other two are 0: the tuned weight of `NAME-listed` corrects what
that lowest value is too high or too low for. Hypotheses with the same text are one hypothesis with the features of both
decoders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

import numpy as np

from rerank_adapters.formats.decoder_features import as_first
from rerank_adapters.formats.pairing import warn
from rerank_adapters.formats.reading import by_number
from rerank_adapters.formats.segment_ids import is_number, some_of
from rerank_plugins import FloatArray, FormatError, Hypothesis, NBestList


class Combination:
    """Combines one segment after another; the first list of each decoder sets the decoder's features."""

    def __init__(self, first_lists: Mapping[str, NBestList]) -> None:
        self.first = dict(first_lists)
        self.totals = {name: all(h.score is not None for h in nbest) for name, nbest in first_lists.items()}
        uses = Counter(feature for nbest in first_lists.values() for feature in nbest.feature_names)
        names: list[str] = []
        for decoder, nbest in first_lists.items():
            names += [f"{decoder}-{name}" if uses[name] > 1 else name for name in nbest.feature_names]
            own = ("score", "rank", "listed") if self.totals[decoder] else ("rank", "listed")
            names += [f"{decoder}-{name}" for name in own]
        self.feature_names = tuple(names)
        if len(set(names)) < len(names):
            twice = next(name for name, uses in Counter(names).items() if uses > 1)
            raise FormatError(f"two features of the combined lists would be called {twice!r}: rename a decoder")

    def combined(self, lists: Mapping[str, NBestList]) -> NBestList:
        """One list of all hypotheses of a segment: those of the first decoder, then the other ones of the next.

        `lists` has the list of each decoder, without those that have none for the segment. The combined list has no
        totals. Raises FormatError for lists whose features differ from those of the decoder's first list.
        """
        rows: dict[str, int] = {}
        hypotheses: list[Hypothesis] = []
        for nbest in lists.values():
            for hypothesis in nbest:
                if rows.setdefault(hypothesis.text, len(rows)) == len(hypotheses):
                    hypotheses.append(hypothesis)
        blocks = [self._block(decoder, lists.get(decoder), rows) for decoder in self.first]
        values = np.concatenate(blocks, axis=1).tolist()
        some = next(iter(lists.values()))
        return replace(
            some,
            hypotheses=tuple(
                hypothesis._replace(features=tuple(row), score=None, raw="")
                for hypothesis, row in zip(hypotheses, values, strict=True)
            ),
            feature_names=self.feature_names,
            rows=(),
        )

    def _block(self, decoder: str, nbest: NBestList | None, rows: Mapping[str, int]) -> FloatArray:
        """(hypotheses, features of the decoder) values; of texts that a decoder lists twice, the first one's."""
        first, totals = self.first[decoder], self.totals[decoder]
        block = np.zeros((len(rows), len(first.feature_names) + totals + 2))
        if nbest is None:
            return block
        nbest = as_first(nbest, first, decoder)
        scores = [(hypothesis.score,) if totals else () for hypothesis in nbest]
        ranks = 1 / np.arange(1.0, len(nbest) + 1.0)
        values = np.array([(*h.features, *score, rank, 1) for h, score, rank in zip(nbest, scores, ranks, strict=True)])
        block[:, :-2] = values[:, :-2].min(axis=0)
        positions = [rows[hypothesis.text] for hypothesis in nbest]
        block[positions[::-1]] = values[::-1]
        return block


def combine(decoders: Mapping[str, Iterable[NBestList]]) -> Iterator[NBestList]:
    """Yield the combined list of each segment that any decoder has lists for; the decoders' names name features.

    Each stream holds one list per segment. Where all ids are numbers that ascend, one segment is in memory. The
    segments that a decoder lacks are logged. Raises FormatError.
    """
    streams = {name: iter(lists) for name, lists in decoders.items()}
    first_lists = {name: next(lists) for name, lists in streams.items()}
    combination = Combination(first_lists)
    restored = {name: chain([first_lists[name]], lists) for name, lists in streams.items()}
    lacking: dict[str, list[str]] = {name: [] for name in decoders}
    segments = 0
    for group in _segments(restored, all(is_number(nbest.segment_id) for nbest in first_lists.values())):
        segments += 1
        for name in decoders.keys() - group.keys():
            lacking[name].append(next(iter(group.values())).segment_id)
        yield combination.combined({name: group[name] for name in decoders if name in group})
    missing = {name: ids for name, ids in lacking.items() if ids}
    warn([f"{name}: no list for {len(ids)} of {segments} segments ({some_of(ids)})" for name, ids in missing.items()])


def _segments(streams: Mapping[str, Iterable[NBestList]], ascend: bool) -> Iterator[dict[str, NBestList]]:
    """The decoders' lists of one segment after another."""
    if ascend:
        for group in by_number(list(streams.values()), list(streams)):
            yield dict(group)
    else:
        by_id: dict[str, dict[str, NBestList]] = {}
        for name, lists in streams.items():
            for nbest in lists:
                by_id.setdefault(nbest.segment_id, {})[name] = nbest
        yield from by_id.values()
