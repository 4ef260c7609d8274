"""Recognises the language of texts, and chooses the text pipelines of a job for models and metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rerank_adapters.text import TextPipeline, looks_like

FUNCTION_WORDS = {
    "de": "der die das und ist nicht ein eine ich sie er wir zu den mit auf für dem des es",
    "en": "the of and to a in is that it we you he was for on with not are this have",
    "es": "el la los las de que y en un una es no se por con para lo su",
    "fr": "le la les de des et est un une que il je ne pas en dans pour vous sur à",
    "it": "il la che di non è un una per in si con le i del sono ha",
    "nl": "de het een en van ik is niet dat zijn op te met voor hij we er",
    "pl": "i w nie na się z do jest to że jak co o po",
    "pt": "o a os as de que e não um uma em se do da para com é",
    "sv": "och att det en som är i på inte han jag den av för med",
}
LEAST = 0.1  # the proportion of function words below which no language is named
TEXTS = 1000  # texts that are looked at
SAME = 0.2  # the proportion of words, beyond that by chance, from which two texts are versions of each other
SAMPLE = 300  # segments that are compared
UNDO = {"bpe": "undo-bpe", "sentencepiece": "undo-sentencepiece", "escaped": "unescape"}
CASES = {"lower-case", "upper-case"}
PUNCTUATION = (".", ",", "?", "!", ";", ":")


def language_of(texts: Sequence[str]) -> str | None:
    """The two-letter code of the language; None where no language of FUNCTION_WORDS is seen clearly.

    >>> language_of(["the cat is on the mat and we see it"]), language_of(["кот сидит на коврике"])
    ('en', None)
    """
    words = Counter(word for text in texts[:TEXTS] for word in text.lower().split())
    rates = {
        language: sum(words[word] for word in frequent.split()) / max(1, words.total())
        for language, frequent in FUNCTION_WORDS.items()
    }
    best = max(rates, key=lambda language: rates[language])
    return best if rates[best] >= LEAST else None


@dataclass(frozen=True)
class Look:
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


def undoing(texts: Sequence[str]) -> tuple[str, ...]:
    """The steps that join the sub-word pieces of the texts and undo their escapes; none where there are neither."""
    kinds = looks_like(texts)
    return tuple(step for kind, step in UNDO.items() if kind in kinds)


def whole_words(texts: Sequence[str]) -> list[str]:
    """The texts after these steps."""
    return TextPipeline(undoing(texts)).apply(texts)


def look_of(hypotheses: Sequence[str], references: Sequence[str], language: str | None) -> Look:
    """The look of the 1-bests, and of references of the same segments, if there are any."""
    kinds, undo = looks_like(hypotheses), undoing(hypotheses)
    whole = TextPipeline(undo).apply(hypotheses)
    models = (*undo, *_to_written(whole, language))
    targets = TextPipeline(undo).apply(references) if references else whole
    metric, have, want = undo, looks_like(whole), looks_like(targets)
    if have & CASES != want & CASES:
        metric = (*metric, "lowercase")
    if ({"tokenised", "detokenised"} & have) != ({"tokenised", "detokenised"} & want):
        metric = (*metric, f"tokenize:{language or 'en'}")
    seen = looks_like(TextPipeline(metric).apply(hypotheses))
    return Look(tuple(sorted(kinds)), undo, models, metric, _is_spoken(targets), "tokenised" in seen)


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
    """The mean proportion of words that a text has in common with that of the same place, less that with the next one.

    >>> shared_words(["a b", "c d"], ["a b", "c d"]), shared_words(["a b", "a b"], ["a b", "a b"])
    (1.0, 0.0)
    """
    bags, other_bags = ([Counter(text.lower().split()) for text in side[:SAMPLE]] for side in (texts, others))
    same = np.mean([_overlap(a, b) for a, b in zip(bags, other_bags, strict=True)])
    if len(bags) < 2:
        return float(same)
    return float(same - np.mean([_overlap(a, b) for a, b in zip(bags, [*other_bags[1:], other_bags[0]], strict=True)]))


def _overlap(one: Counter[str], other: Counter[str]) -> float:
    return (one & other).total() / max(one.total(), other.total(), 1)
