"""Whether hypotheses and references belong together, judged by the words that they share.

A hypothesis is compared with its own reference and with those of some other segments. If they are its own, it is nearly
always ahead: it shares more words with its own. The mean over the segments, with 1/2 for as many, is about 1/2 for
references of other segments, and above .97 for every system of two WMT campaigns but one, whose outputs are no
sentences. Texts of the same language have half of their running words in common, whatever the segments, and texts of
two languages a few names and numbers. docs/evaluation.md has the limits, and how often they are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rerank_adapters.evaluation.shared_words import NEXT, SharedWords
from rerank_adapters.text import whole_words
from rerank_plugins import FloatArray
from rerank_plugins.core.arrays import LongArray

LEAST_AHEAD = 0.7  # the mean below which the references are others', for many segments
DOUBTFUL_AHEAD = 0.8  # the mean below which that is doubtful
DEVIATIONS = 0.5  # by so much / √segments both are lower: two standard errors of the mean for wrong references
LEAST_COMMON = 0.3  # the proportion of common words below which the texts are of two languages, for many words
FEWEST_WORDS = 20  # running words up to which nothing is concluded from common words
FEWEST = 4  # segments below which nothing is concluded from other segments
SHIFTED, MOST = 7, 0.6  # segments by which those of a shift outnumber others, and which part of all of it that is
OF_OTHERS = 4.0  # by so much the segments of a part without references of its own are behind LEAST_AHEAD in all
COPIES = 0.95  # the proportion of references that are the sources, from which on these are the same text
MANY = 10  # segments from which on copies are no chance
SAMPLE, RUN = 5000, 100  # segments that are compared of more, in runs of so many


@dataclass(frozen=True)
class Doubt:
    """A sentence that says why texts may not belong together; whether it is certain enough for an error."""

    text: str
    certain: bool = True


def doubts(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Doubt]:
    """What speaks against the references of some hypotheses; nothing where it is too little, as in one short segment.

    All texts are one for each segment; `ids` are those of the segments, numbers from 0 if they are None. Of more than
    SAMPLE segments, runs from the first to the last are compared.
    """
    places = sampled(len(hypotheses))
    if not len(places):
        return []
    names = [ids[place] if ids is not None else str(place) for place in places]
    left, right = (whole_words([texts[place] for place in places]) for texts in (hypotheses, references))
    shared = SharedWords.of(left, right)
    own_sources = [sources[place] for place in places] if sources is not None else []
    if len(right) >= FEWEST and not any(text.split() for text in right):
        return [Doubt("all references are empty")]
    if copies := _copies(right, own_sources):
        return [copies]
    if of_two_languages := _two_languages(shared, left, own_sources):
        return [of_two_languages]
    return _other_segments(shared, names)


def sampled(segments: int) -> LongArray:
    """The places of all segments, or of SAMPLE of them, in runs at equal distances up to the last one."""
    if segments <= SAMPLE:
        return np.arange(segments)
    starts = np.linspace(0, segments - RUN, SAMPLE // RUN).round().astype(np.int64)
    return np.unique((starts[:, None] + np.arange(RUN)).ravel())


def _copies(references: Sequence[str], sources: Sequence[str | None]) -> Doubt | None:
    same = sum(one.split() == (other or "").split() for one, other in zip(references, sources, strict=False))
    if len(sources) < MANY or same < COPIES * len(sources):
        return None
    return Doubt(f"{same} of {len(sources)} references are the sources themselves: one file was given as both")


def _two_languages(shared: SharedWords, hypotheses: Sequence[str], sources: Sequence[str | None]) -> Doubt | None:
    words = shared.words
    if words <= FEWEST_WORDS or shared.common >= LEAST_COMMON * (1 - sqrt(FEWEST_WORDS / words)):
        return None
    text = f"they have {_percent(shared.common)} of their words in common, as texts of two languages have"
    if sources and None not in sources:
        with_sources = SharedWords.of(hypotheses, whole_words([source or "" for source in sources])).common
        if with_sources > max(shared.common, LEAST_COMMON):
            return Doubt(f"{text}, and {_percent(with_sources)} with the sources: these are the references, it seems")
    return Doubt(f"{text}: are the references sources?")


def _other_segments(shared: SharedWords, names: Sequence[str]) -> list[Doubt]:
    """What the comparison with other segments says: a shift, a part without references of its own, or all of it."""
    ahead = shared.ahead
    compared = np.flatnonzero(~np.isnan(ahead).all(axis=1))
    if len(compared) < FEWEST:
        return []
    means = np.nanmean(ahead[compared], axis=1) / 2 + 0.5
    mean, slack = float(means.mean()), DEVIATIONS / sqrt(len(compared))
    if shift := _shift(shared, names):
        return [shift]
    if mean < LEAST_AHEAD - slack:
        others = "these are other segments' references, or the segments are in another order"
        return [Doubt(f"they {_shares(shared, compared)}: {others}")]
    first, last, behind = largest_sum(LEAST_AHEAD - means)
    if behind > OF_OTHERS:
        part = f"the {last - first} segments from {names[compared[first]]!r} to {names[compared[last - 1]]!r}"
        shares = _shares(shared, compared[first:last])
        return [Doubt(f"{part} {shares}: these references are in another order, or of other segments")]
    if mean < DOUBTFUL_AHEAD - slack:
        return [Doubt(f"they {_shares(shared, compared)}: are these their references?", certain=False)]
    return []


def _shares(shared: SharedWords, segments: LongArray) -> str:
    own, others = (_percent(float(proportions[segments].mean())) for proportions in (shared.own, shared.others))
    return f"share {own} of their words with their own references and {others} with those of other segments"


def _shift(shared: SharedWords, names: Sequence[str]) -> Doubt | None:
    """The longest part whose segments share more words with the reference of a neighbour than with their own."""
    places = [(shared.distances.index(distance % len(names)), distance) for distance in NEXT
              if distance % len(names) in shared.distances]  # fmt: skip
    parts = [(*largest_sum(-np.nan_to_num(shared.ahead[:, column])), distance) for column, distance in places]
    first, last, surplus, distance = max(parts, key=lambda part: part[2], default=(0, 0, 0.0, 0))
    if surplus < max(SHIFTED, MOST * (last - first)):
        return None
    neighbour = ("second " if abs(distance) == 2 else "") + ("segment before" if distance < 0 else "segment after")
    to_the_end = last >= len(names) - abs(distance) - 1
    part = f"from {names[first]!r} " + ("on" if to_the_end else f"to {names[last - 1]!r}")
    cause = "missing" if distance < 0 else "surplus"
    return Doubt(f"the segments {part} share more words with the reference of the {neighbour} than with their own:"
                 f" a line is {cause} in the references near {names[first]!r}")  # fmt: skip


def largest_sum(values: FloatArray) -> tuple[int, int, float]:
    """The first and the end of the consecutive values whose sum is largest, and that sum; (0, 0, 0) if none is above 0.

    >>> largest_sum(np.array([-1.0, 2.0, -1.0, 3.0, -5.0]))
    (1, 4, 4.0)
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    gains = sums - np.minimum.accumulate(sums)
    end = int(gains.argmax())
    return int(sums[: end + 1].argmin()), end, float(gains[end])


def _percent(proportion: float) -> str:
    return f"{100 * proportion:.0f} %"
