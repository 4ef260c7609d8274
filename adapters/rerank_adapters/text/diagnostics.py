"""Checks whether a text looks like the training data of a model, by telltale tokens and out-of-vocabulary rates.

A remedy is searched for greedily: of the usual text steps, the one that lowers the out-of-vocabulary rate most is added
as long as it helps clearly. A sample of some hundred texts suffices, so that a check takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rerank_adapters.text.pipeline import TextPipeline
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.words import model_words

REMEDIES = (
    "undo-bpe",
    "undo-sentencepiece",
    "unescape",
    "lowercase",
    "uppercase",
    "penn-tokenize",
    "penn-unescape",
    "tokenize:en",
)
MAX_TEXTS = 500  # texts examined
HIGH_OOV_RATE = 0.10  # an out-of-vocabulary rate that is worth a warning even where no step lowers it
LETTERS_PER_STRAY = 500  # letters of one case for each of the other, from which on these do not count
WORDS_PER_MARK = 100  # words for each mark, from which on a text is neither tokenised nor not
GLUED = re.compile(r"\w[,.?!;:](?=\s|$)")
APART = re.compile(r"(?:^|\s)[,.?!;:](?=\s|$)")
PENN = re.compile(r"(?:^|\s)(?:-[LR][RSC]B-|``|''|n't|'(?:s|ll|re|ve|m|d))(?=\s|$)")
ESCAPED = re.compile(r"&(?:apos|quot|amp|lt|gt|#91|#93|#124);")


def looks_like(texts: Sequence[str]) -> frozenset[str]:
    """The kinds of preprocessing that the texts show: any of `bpe`, `sentencepiece`, `escaped` (as by Moses), `penn`,
    `tokenised` or `detokenised` (punctuation is separate from words or attached to them), `lower-case`, `upper-case`.

    A few capitals in lower-case text, such as those of `<UNK>`, change nothing, nor does a stray mark in a transcript.
    """
    joined = "\n".join(texts)
    capitals = sum(map(str.isupper, joined))
    small = sum(map(str.islower, joined))
    pieces = re.findall(r"\S+", joined)
    signs = {
        "bpe": 200 * sum(piece.endswith("@@") for piece in pieces) > len(pieces),
        "sentencepiece": 20 * sum(piece.startswith("▁") for piece in pieces) > len(pieces),
        "escaped": bool(ESCAPED.search(joined)),
        "penn": bool(PENN.search(joined)),
        "lower-case": small > LETTERS_PER_STRAY * capitals,
        "upper-case": capitals > LETTERS_PER_STRAY * small,
    }
    glued, apart = len(GLUED.findall(joined)), len(APART.findall(joined))
    if WORDS_PER_MARK * (glued + apart) > len(pieces):
        signs |= {"tokenised": apart > 3 * glued, "detokenised": glued > 3 * apart}
    return frozenset(name for name, present in signs.items() if present)


def unknown_rate(vocabulary: Words, texts: Sequence[str]) -> float:
    """The proportion of the words of texts that are not in a vocabulary; 0 without words."""
    words = Counter(word for text in texts for word in model_words(text))
    return sum(count for word, count in words.items() if word not in vocabulary) / max(1, words.total())


@dataclass(frozen=True)
class UnknownWords:
    """Words of texts that a model does not know: their proportion, examples, the kinds of preprocessing that the texts
    show, and the text steps that lower the proportion, with the one after these.
    """

    model: str
    rate: float
    examples: str
    looks: frozenset[str]
    steps: tuple[str, ...] = ()
    rate_after: float = 0.0


def unknown_words(
    contains: Callable[[str], bool], texts: Sequence[str], model: str = "the language model", least: float = 0.0
) -> UnknownWords | None:
    """The unknown words of texts; None where there are few, or fewer than HIGH_OOV_RATE against which no steps help.

    Where the rate is below `least` there are few, whether steps would help or not.
    """
    distinct = list(dict.fromkeys(texts))
    sample = distinct[:: max(1, len(distinct) // MAX_TEXTS)]
    known: dict[str, bool] = {}

    def rate(steps: tuple[str, ...]) -> float:
        words = Counter(word for text in TextPipeline(steps).apply(sample) for word in model_words(text))
        for word in words:
            if word not in known:
                known[word] = contains(word)
        return sum(n for word, n in words.items() if not known[word]) / max(1, words.total())

    steps: tuple[str, ...] = ()
    before = now = rate(steps)
    if before < least:
        return None
    while now > 0.01 and len(steps) < 3:
        tried = {step: rate((*steps, step)) for step in REMEDIES if step not in steps}
        best = min(tried, key=lambda step: tried[step])
        if tried[best] > 0.8 * now or now - tried[best] < 0.005:
            break
        steps, now = (*steps, best), tried[best]
    if not steps and before < HIGH_OOV_RATE:
        return None
    unknown = Counter(word for text in sample for word in model_words(text) if not known[word])
    examples = " ".join(word for word, _ in unknown.most_common(5))
    return UnknownWords(model, before, examples, looks_like(sample), steps, now)


def by_remedy(found: Iterable[tuple[str, UnknownWords]]) -> Iterator[tuple[list[str], str]]:
    """A line for all unknown words that the same text steps help against, with the places where they were found.

    Of the same model in several places, the highest proportion is named.
    """
    groups: dict[tuple[str, ...], list[tuple[str, UnknownWords]]] = {}
    for place, one in found:
        groups.setdefault(one.steps, []).append((place, one))
    for steps, group in groups.items():
        highest: dict[str, UnknownWords] = {}
        for _, one in group:
            highest[one.model] = max(highest.get(one.model, one), one, key=lambda each: each.rate)
        first, *others = highest.values()
        message = f"{first.rate:.1%} of the words are unknown to {first.model}"
        message += "".join(f", {one.rate:.1%} to {one.model}" for one in others) + f" ({first.examples})"
        if first.looks:
            message += f"; the text looks {', '.join(sorted(first.looks))}"
        if steps:
            message += f"; {max(one.rate_after for one in highest.values()):.1%} would be with text = {list(steps)}"
        yield list(dict.fromkeys(place for place, _ in group)), message
