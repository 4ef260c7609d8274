"""Checks whether a text looks like the training data of a model, by telltale tokens and out-of-vocabulary rates.

A remedy is searched for greedily: of the usual text steps, the one that lowers the out-of-vocabulary rate most is added
as long as it helps clearly. A sample of some hundred texts suffices, so that a check takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from rerank_adapters.text.pipeline import TextPipeline
from rerank_plugins.core.brackets_and_quotes import Words

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
    words = Counter(word for text in texts for word in text.split())
    return sum(count for word, count in words.items() if word not in vocabulary) / max(1, words.total())


def vocabulary_warnings(
    contains: Callable[[str], bool], texts: Sequence[str], model: str = "the language model", least: float = 0.0
) -> list[str]:
    """Warnings about texts with out-of-vocabulary words: their rate, examples, and the text steps that would help.

    Where the rate is below `least` there is no warning, whether steps would help or not.
    """
    distinct = list(dict.fromkeys(texts))
    sample = distinct[:: max(1, len(distinct) // MAX_TEXTS)]
    known: dict[str, bool] = {}

    def rate(steps: tuple[str, ...]) -> float:
        words = Counter(word for text in TextPipeline(steps).apply(sample) for word in text.split())
        for word in words:
            if word not in known:
                known[word] = contains(word)
        return sum(n for word, n in words.items() if not known[word]) / max(1, words.total())

    steps: tuple[str, ...] = ()
    before = now = rate(steps)
    if before < least:
        return []
    while now > 0.01 and len(steps) < 3:
        tried = {step: rate((*steps, step)) for step in REMEDIES if step not in steps}
        best = min(tried, key=lambda step: tried[step])
        if tried[best] > 0.8 * now or now - tried[best] < 0.005:
            break
        steps, now = (*steps, best), tried[best]
    if not steps and before < HIGH_OOV_RATE:
        return []
    unknown = Counter(word for text in sample for word in text.split() if not known[word])
    examples = " ".join(word for word, _ in unknown.most_common(5))
    kinds = ", ".join(sorted(looks_like(sample)))
    looks = f"; the text looks {kinds}" if kinds else ""
    message = f"{before:.1%} of the words are unknown to {model} ({examples}){looks}"
    return [message + (f"; {now:.1%} would be with text = {list(steps)}" if steps else "")]
