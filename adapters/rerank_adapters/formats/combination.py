"""Combines the lists of different decoders: system combination, in which the reranker chooses among all hypotheses.

The features of a combined list are those of each decoder in turn, and after them three of its own: `NAME-score`, the
decoder's total, where its lists have totals; `NAME-rank`, 1 / rank in its list; and `NAME-listed`, 1 for the hypotheses
of this decoder. In the hypotheses that a decoder did not list, its features and its total have the lowest value of its
list (0 where it has no list for the segment), and the other two are 0: the tuned weight of `NAME-listed` corrects what
that lowest value is too high or too low for. Hypotheses with the same text are one hypothesis with the features of both
decoders.

With metrics of `agreement`, a hypothesis has for each decoder and metric another feature, `NAME-METRIC`: the metric's
sentence score of the hypothesis with the decoder's first hypothesis as its reference (0 where the decoder has no list
for the segment). A weighted sum of these is the expected utility of minimum Bayes risk with the decoders as samples
(Kumar & Byrne 2004), where the tuned weights say how much the evidence of each decoder counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from rerank_adapters.formats.columnar import open_lines
from rerank_adapters.formats.decoder_features import as_first
from rerank_adapters.formats.items import SCORE
from rerank_adapters.formats.merging import by_number
from rerank_adapters.formats.recognition import shows_no_lists
from rerank_adapters.formats.segment_ids import is_number, some_of
from rerank_adapters.runtime.progress import warn
from rerank_plugins import FloatArray, FormatError, Hypothesis, Metric, NBestList
from rerank_plugins.core.metrics_and_tuners import scores_with_each


class Combination:
    """Combines one segment after another; the first list of each decoder sets the decoder's features."""

    def __init__(self, first_lists: Mapping[str, NBestList], agreement: Sequence[tuple[str, Metric]] = ()) -> None:
        self.first, self.agreement = {name: _without_total(nbest) for name, nbest in first_lists.items()}, agreement
        self.totals = {name: all(h.score is not None for h in nbest) for name, nbest in first_lists.items()}
        uses = Counter(feature for nbest in self.first.values() for feature in nbest.feature_names)
        names: list[str] = []
        for decoder, nbest in self.first.items():
            names += [f"{decoder}-{name}" if uses[name] > 1 else name for name in nbest.feature_names]
            own = ("score", "rank", "listed") if self.totals[decoder] else ("rank", "listed")
            names += [f"{decoder}-{name}" for name in (*own, *(name for name, _ in self.agreement))]
        self.feature_names = tuple(names)
        if len(set(names)) < len(names):
            twice = next(name for name, uses in Counter(names).items() if uses > 1)
            raise FormatError(
                f"two features of the combined lists would be called {twice!r}: rename a decoder or a metric"
            )

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
        firsts = {decoder: nbest[0].text for decoder, nbest in lists.items() if len(nbest)}
        agreement = self._agreement(list(rows), firsts)
        blocks = [self._block(decoder, lists.get(decoder), rows, agreement.get(decoder)) for decoder in self.first]
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

    def _agreement(self, texts: Sequence[str], firsts: Mapping[str, str]) -> dict[str, FloatArray]:
        """For each decoder, the (texts, metrics) scores of the texts with its first hypothesis as their reference."""
        if not (self.agreement and firsts):
            return {}
        references = list(dict.fromkeys(firsts.values()))
        scores = np.stack([scores_with_each(metric, texts, references) for _, metric in self.agreement], axis=-1)
        return {decoder: scores[references.index(text)] for decoder, text in firsts.items()}

    def _block(
        self, decoder: str, nbest: NBestList | None, rows: Mapping[str, int], agreement: FloatArray | None
    ) -> FloatArray:
        """(hypotheses, features of the decoder) values; of texts that a decoder lists twice, the first one's."""
        first, totals = self.first[decoder], self.totals[decoder]
        own = len(first.feature_names) + totals + 2
        block = np.zeros((len(rows), own + len(self.agreement)))
        if agreement is not None:
            block[:, own:] = agreement
        if nbest is None:
            return block
        nbest = as_first(_without_total(nbest), first, decoder)
        scores = [(hypothesis.score,) if totals else () for hypothesis in nbest]
        ranks = 1 / np.arange(1.0, len(nbest) + 1.0)
        values = np.array([(*h.features, *score, rank, 1) for h, score, rank in zip(nbest, scores, ranks, strict=True)])
        block[:, : own - 2] = values[:, :-2].min(axis=0)
        positions = [rows[hypothesis.text] for hypothesis in nbest]
        block[positions[::-1], :own] = values[::-1]
        return block


def _without_total(nbest: NBestList) -> NBestList:
    """The list without the feature `score`, if it has totals: a decoder's total is a feature of its own, NAME-score."""
    if SCORE not in nbest.feature_names or nbest[0].score is None:
        return nbest
    kept = [column for column, name in enumerate(nbest.feature_names) if name != SCORE]
    names = tuple(nbest.feature_names[column] for column in kept)
    hypotheses = tuple(h._replace(features=tuple(h.features[column] for column in kept)) for h in nbest)
    return replace(nbest, hypotheses=hypotheses, feature_names=names)


def combine(
    decoders: Mapping[str, Iterable[NBestList]], agreement: Sequence[tuple[str, Metric]] = ()
) -> Iterator[NBestList]:
    """Yield the combined list of each segment that any decoder has lists for; the decoders' names name features.

    `agreement` has the names and the metrics by which hypotheses are compared with the first one of each decoder.

    Each stream holds one list per segment. Where all ids are numbers that ascend, one segment is in memory. The
    segments that a decoder lacks are logged. Raises FormatError.
    """
    streams = {name: iter(lists) for name, lists in decoders.items()}
    first_lists = {name: next(lists) for name, lists in streams.items()}
    combination = Combination(first_lists, agreement)
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


def outputs_of_lines(decoders: Mapping[str, Sequence[str]]) -> list[str]:
    """The decoders whose files show no format of lists and have as many lines as each other: a segment a line.

    Raises FormatError where their numbers of lines differ.
    """
    sizes: dict[str, int] = {}
    for decoder, files in decoders.items():
        if len(files) == 1 and files[0] != "-" and Path(files[0]).is_file() and shows_no_lists(files[0]):
            with open_lines(files[0]) as lines:
                sizes[decoder] = sum(1 for _ in lines)
    if len(set(sizes.values())) > 1:
        one, other = (next(name for name in sizes if sizes[name] == size) for size in sorted(set(sizes.values()))[:2])
        found = f"{decoders[one][0]} has {sizes[one]} lines, {decoders[other][0]} has {sizes[other]}"
        raise FormatError(f"{found}; wanted as many lines in each output, one for each segment")
    return list(sizes)


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
