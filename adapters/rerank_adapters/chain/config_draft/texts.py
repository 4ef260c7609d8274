"""Chooses the text pipelines of a job for models, metrics and sources, by how its texts look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rerank_adapters.data.shared_words import SharedWords
from rerank_adapters.text import TextPipeline, looks_like, steps_between, undoing
from rerank_adapters.text.styles import CASES

SAME = 0.2  # the proportion of words, beyond that by chance, from which two texts are versions of each other
SAMPLE = 300  # segments that are compared
PUNCTUATION = (".", ",", "?", "!", ";", ":")


@dataclass(frozen=True)
class TextStyle:
    """How hypotheses look, and the steps that follow from it.

    `kinds`     what `looks_like` finds in the hypotheses
    `undo`      the steps that make whole words of the hypotheses
    `models`    the steps before models of written text: in English, they read tokens of the Penn Treebank
    `metric`    the steps of hypotheses and references before a metric
    `spoken`    whether the references have neither capitals nor punctuation, as transcripts do
    `tokenised` whether both sides are tokenised when the metric reads them
    """

    kinds: tuple[str, ...]
    undo: tuple[str, ...]
    models: tuple[str, ...]
    metric: tuple[str, ...]
    spoken: bool
    tokenised: bool


def look_of(
    hypotheses: Sequence[str], references: Sequence[str], language: str | None, *, speech: bool | None = None
) -> TextStyle:
    """The look of the 1-bests, and of references of the same segments, if there are any.

    A metric of recognised words is the plain one: `speech` says that it is to be one, None that the texts show it.
    """
    kinds, undo = looks_like(hypotheses), undoing(hypotheses)
    whole = TextPipeline(undo).apply(hypotheses)
    targets = references or whole
    spoken = _is_spoken(targets)
    models = (*undo, *_to_written(whole, language))
    metric = steps_between(hypotheses, targets, language)
    if not set(undo) <= set(metric):  # both sides have pieces
        metric = (*undo, *metric)
    plain = spoken if speech is None else speech
    metric = tuple(step for step in metric if not step.startswith("tokenize:" if plain else "no-punctuation"))
    seen = looks_like(TextPipeline(metric).apply(hypotheses))
    return TextStyle(tuple(sorted(kinds)), undo, models, metric, spoken, "tokenised" in seen)


def _to_written(texts: Sequence[str], language: str | None) -> tuple[str, ...]:
    english = language in (None, "en")
    tokenised = ("penn-tokenize",) if english else (f"tokenize:{language}",)
    if _is_spoken(texts):
        return ("restore-sentence", *tokenised) if english else ()
    return tokenised if "detokenised" in looks_like(texts) else ()


def _is_spoken(texts: Sequence[str]) -> bool:
    cased = CASES & looks_like(texts)
    punctuated = sum(text.rstrip().endswith(PUNCTUATION) for text in texts)
    return bool(cased) and 20 * punctuated < len(texts)


def shared_words(texts: Sequence[str], others: Sequence[str]) -> float:
    """The mean proportion of words that texts share with those of the same segments, less that with other segments'."""
    return SharedWords.of(texts[:SAMPLE], others[:SAMPLE]).excess
