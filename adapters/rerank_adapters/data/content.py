"""Whether hypotheses and references belong together: by the words that they share, and by their style.

A hypothesis is compared with its own reference and with those of some other segments. If they are its own, it is nearly
always ahead: it shares more words with its own. The mean over the segments, with 1/2 for as many, is about 1/2 for
references of other segments, and above .97 for every system of two WMT campaigns but one, whose outputs are no
sentences. Texts of the same language have half of their running words in common, whatever the segments, and texts of
two languages a few names and numbers. docs/evaluation.md has the limits, and how often they are right.

Content that does not fit is an error unless the pairs are trusted (`--trust-pairs`, in a config `trust_pairs = true`).
Doubtful content is a warning, and so is another style than that of the references, with the text steps that would make
both alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from rerank_adapters.data.shared_words import NEXT, SharedWords
from rerank_adapters.evaluation.measure import Measure, through
from rerank_adapters.features.feature import Feature
from rerank_adapters.text import TextPipeline, steps_between, steps_towards, style_of, whole_words
from rerank_adapters.text.languages import language_of
from rerank_adapters.texts.transcript import first_alternative
from rerank_plugins import ConfigError, FloatArray, NBestList
from rerank_plugins.core.arrays import LongArray

MIN_AHEAD = 0.7  # the mean below which the references are others', for many segments
MIN_CERTAIN_AHEAD = 0.8  # the mean below which that is doubtful
DEVIATIONS = 0.5  # by so much / √segments both are lower: two standard errors of the mean for wrong references
MIN_COMMON = 0.3  # the proportion of common words below which the texts are of two languages, for many words
MIN_WORDS = 20  # running words up to which nothing is concluded from common words
MIN_SEGMENTS = 4  # segments below which nothing is concluded from other segments
MIN_SHIFTED, MIN_PART = 7, 0.6  # segments by which those of a shift outnumber others, and their part of the shift
OF_OTHERS = 4.0  # by so much the segments of a part without references of its own are behind MIN_AHEAD in all
MIN_COPIED = 0.95  # the proportion of references that are the sources, from which on these are the same text
MIN_COPIED_SEGMENTS = 10  # segments from which on copies are no chance
MAX_COMPARED, RUN = 5000, 100  # segments that are compared of more, in runs of so many
MAX_STYLED = 1000  # texts whose style is looked at
TRUSTED = (
    "if the pairing is correct, pass `--trust-pairs` to continue (in a config `trust_pairs = true`, in Python"
    " `trust_pairs=True`)"
)


@dataclass(frozen=True)
class Doubt:
    """A sentence that says why texts may not belong together; whether it is certain enough for an error."""

    text: str
    certain: bool = True


@dataclass(frozen=True)
class ContentCheck:
    """How texts are checked against their references: as these metrics see them, the tuned one first.

    `language` is that of the texts, found in them where it is empty; `trusted` whether content that does not fit is a
    warning and no error; `default_metric` whether nobody named the metric, which a warning then says. Without `styles`,
    the content alone is looked at.
    """

    measures: Sequence[Measure]
    language: str = ""
    trusted: bool = False
    default_metric: bool = False
    styles: bool = True

    def doubts(
        self,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[Sequence[str]],
        *,
        files: Sequence[str | Path] = (),
        sources: Sequence[str | None] | None = None,
        ids: Sequence[str] | None = None,
    ) -> Iterator[Doubt]:
        """The doubts about each file of references for each system, then those about the style of one system.

        `systems` have one text for each segment by the name of the system, `references` the references of each segment,
        which the `files` hold. `sources` and `ids` are those of the segments, if they are known. A doubt is certain
        where texts and references do not belong together, unless the pairs are trusted.

        Texts are compared as they are, and where there is a doubt as the tuned metric sees them: its pipeline may make
        words of numerals, or classes of words.
        """
        if not references or not all(references):
            return
        for column in range(min(map(len, references))):
            wanted = [first_alternative(of_segment[column]) for of_segment in references]
            where = str(files[column]) if column < len(files) else "the references"
            for name, texts in systems.items():
                spoken = [first_alternative(text) for text in texts]
                found = doubts(spoken, wanted, sources=sources, ids=ids)
                if found and (text := self.measures[0].text).steps:
                    found = doubts(text.apply(spoken), text.apply(wanted), sources=sources, ids=ids)
                for doubt in found:
                    refused = doubt.certain and not self.trusted
                    yield Doubt(f"{name} and {where}: {doubt.text}{f'; {TRUSTED}' if refused else ''}", refused)
        mismatches = (list(self._mismatches(name, texts, references)) for name, texts in systems.items())
        for mismatch in next(filter(None, mismatches), ()) if self.styles else ():
            yield Doubt(mismatch, certain=False)

    def _mismatches(self, name: str, texts: Sequence[str], references: Sequence[Sequence[str]]) -> Iterator[str]:
        """How the texts called `name` differ in style from the references, as the metrics see both.

        A sentence names the text steps that would make them alike, and all metrics for which these would do so.
        """
        targets = [text for several in references for text in several][:MAX_STYLED]
        firsts = [list(map(first_alternative, some)) for some in (texts[:MAX_STYLED], targets)]
        labels: dict[tuple[str, str], list[str]] = {}
        for measure in self.measures:
            hypotheses, wanted = through(measure.text, firsts)
            if measure.ignores_case:
                hypotheses, wanted = ([text.lower() for text in some] for some in (hypotheses, wanted))
            if steps := steps_between(hypotheses, wanted, self.language or language_of(wanted)):
                looks = _looks(name, hypotheses, "references", wanted)
                labels.setdefault((looks, _advice(measure.text, steps)), []).append(measure.name)
        for (looks, advice), (first, *others) in labels.items():
            default = ", the default metric," if self.default_metric else ""
            seen = f"as {first!r}{default} sees them: give the metric"
            if others:
                seen = f"as {', '.join(map(repr, [first, *others]))} see them: give each of these metrics"
            yield f"{looks}, {seen} text = {advice}"


def warnings_of(doubts: Iterable[Doubt]) -> list[str]:
    """The texts of doubts. Raises ConfigError for the first one that is certain."""
    found = []
    for doubt in doubts:
        if doubt.certain:
            raise ConfigError(doubt.text)
        found.append(doubt.text)
    return found


def source_mismatches(features: Iterable[Feature], lists: Sequence[NBestList]) -> Iterator[str]:
    """How sources and hypotheses differ in style, as each of the features that look for common words reads both."""
    from rerank_plugins.translation.copied_words import LexicalOverlapFeature, UntranslatedFeature

    sources = [nbest.source for nbest in lists[:MAX_STYLED] if nbest.source is not None]
    hypotheses = [nbest[0].text for nbest in lists[:MAX_STYLED]]
    language = language_of(whole_words(sources))
    for feature in features:
        if not sources or not isinstance(feature.extractor, LexicalOverlapFeature | UntranslatedFeature):
            continue
        left, right = feature.source.apply(sources), feature.text.apply(hypotheses)
        if steps := steps_towards(left, right, language):
            looks, advice = _looks("sources", left, "hypotheses", right), _advice(feature.source, steps)
            yield f"{looks}, as {feature.label!r} sees them: give the feature source_text = {advice}"


def _looks(name: str, texts: Sequence[str], other_name: str, others: Sequence[str]) -> str:
    """As `sources look lower-case, hypotheses plain`."""
    styles = style_of(texts, others), style_of(others, texts)
    own, other = (" and ".join(sorted(style)) or "plain" for style in styles)
    return f"{name} look {own}, {other_name} {other}"


def _advice(text: TextPipeline, steps: Sequence[str]) -> str:
    """The steps of a pipeline and those that it lacks, as a config has them."""
    return str([*text.steps, *(step for step in steps if step not in text.steps)])


def doubts(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
) -> list[Doubt]:
    """The doubts about the references of some hypotheses; none where there is too little text, as in one short segment.

    All texts are one for each segment; `ids` are those of the segments, numbers from 0 if they are None. Of more than
    MAX_COMPARED segments, runs from the first to the last are compared.
    """
    places = sampled(len(hypotheses))
    if not len(places):
        return []
    names = [ids[place] if ids is not None else str(place) for place in places]
    left, right = (whole_words([texts[place] for place in places]) for texts in (hypotheses, references))
    shared = SharedWords.of(left, right)
    own_sources = [sources[place] for place in places] if sources is not None else []
    if len(right) >= MIN_SEGMENTS and not any(text.split() for text in right):
        return [Doubt("all references are empty")]
    if copies := _copies(right, own_sources):
        return [copies]
    if of_two_languages := _two_languages(shared, left, own_sources):
        return [of_two_languages]
    return _other_segments(shared, names)


def sampled(segments: int) -> LongArray:
    """The places of all segments, or of MAX_COMPARED of them, in runs at equal distances up to the last one."""
    if segments <= MAX_COMPARED:
        return np.arange(segments)
    starts = np.linspace(0, segments - RUN, MAX_COMPARED // RUN).round().astype(np.int64)
    return np.unique((starts[:, None] + np.arange(RUN)).ravel())


def _copies(references: Sequence[str], sources: Sequence[str | None]) -> Doubt | None:
    same = sum(one.split() == (other or "").split() for one, other in zip(references, sources, strict=False))
    if len(sources) < MIN_COPIED_SEGMENTS or same < MIN_COPIED * len(sources):
        return None
    return Doubt(f"{same} of {len(sources)} references are the sources themselves: one file was given as both")


def _two_languages(shared: SharedWords, hypotheses: Sequence[str], sources: Sequence[str | None]) -> Doubt | None:
    words = shared.words
    if words <= MIN_WORDS or shared.common >= MIN_COMMON * (1 - sqrt(MIN_WORDS / words)):
        return None
    text = f"they have {_percent(shared.common)} of their words in common, as texts of two languages have"
    if sources and None not in sources:
        with_sources = SharedWords.of(hypotheses, whole_words([source or "" for source in sources])).common
        if with_sources > max(shared.common, MIN_COMMON):
            return Doubt(f"{text}, and {_percent(with_sources)} with the sources: these are the references, it seems")
    return Doubt(f"{text}: are the references sources?")


def _other_segments(shared: SharedWords, names: Sequence[str]) -> list[Doubt]:
    """The result of the comparison with other segments: a shift, a part without references of its own, or all of it."""
    ahead = shared.ahead
    compared = np.flatnonzero(~np.isnan(ahead).all(axis=1))
    if len(compared) < MIN_SEGMENTS:
        return []
    means = np.nanmean(ahead[compared], axis=1) / 2 + 0.5
    mean, slack = float(means.mean()), DEVIATIONS / sqrt(len(compared))
    if shift := _shift(shared, names):
        return [shift]
    if mean < MIN_AHEAD - slack:
        others = "these are other segments' references, or the segments are in another order"
        return [Doubt(f"they {_shares(shared, compared)}: {others}")]
    first, last, behind = largest_sum(MIN_AHEAD - means)
    if behind > OF_OTHERS:
        part = f"the {last - first} segments from {names[compared[first]]!r} to {names[compared[last - 1]]!r}"
        shares = _shares(shared, compared[first:last])
        return [Doubt(f"{part} {shares}: these references are in another order, or of other segments")]
    if mean < MIN_CERTAIN_AHEAD - slack:
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
    if surplus < max(MIN_SHIFTED, MIN_PART * (last - first)):
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
