"""Surface measures (Šarić et al. 2012): lengths, numbers, stock symbols and case.

`length` and `information` divide the smaller value by the larger, so that 1 means equal; `size` is ln(1 + words of both
sentences) and `short` is exp(-words of the shorter sentence / 10). Numbers are compared as written, without separators
of thousands. A stock symbol is a full stop followed by capital letters, as news agencies write it (`.DJI`).
"""

from __future__ import annotations

import re
from math import exp, log

from rerank_plugins.similarity.measures.overlap import harmonic
from rerank_plugins.similarity.measures.sentence_parts import Lexicon, Text

NAMES = (
    "length", "information", "size", "short", "numbers_size", "numbers_overlap", "numbers_subset", "case",
    "stocks_size", "stocks_overlap",
)  # fmt: skip
OTHER = ("size", "short", "numbers_size", "stocks_size")  # not measures of similarity: they depend on counts alone
STOCK = re.compile(r"\.[A-Z]+")


def measure(a: Text, b: Text, lexicon: Lexicon) -> tuple[float, ...]:
    """Compute the measures of NAMES, from 0 to 1 except those that end in `size`, which are logarithms of counts."""
    left, right = ({number.replace(",", "") for number in side.numbers} for side in (a, b))
    capitals = [{t for t in side.tokens if any(c.isupper() for c in t[1:]) or t[:1].isupper()} for side in (a, b)]
    stocks = [{token for token in side.tokens if STOCK.fullmatch(token)} for side in (a, b)]
    information = [sum(map(lexicon.information, set(side.words))) for side in (a, b)]
    return (
        ratio(len(a.words), len(b.words)),
        ratio(*information),
        log(1 + len(a.words) + len(b.words)),
        exp(-min(len(a.words), len(b.words)) / 10),
        log(1 + len(left) + len(right)),
        1.0 if left == right else harmonic(left, right),
        float(left <= right or right <= left),
        harmonic(*capitals),
        log(1 + len(stocks[0]) + len(stocks[1])),
        1.0 if stocks[0] == stocks[1] else harmonic(*stocks),
    )


def ratio(a: float, b: float) -> float:
    """The smaller value divided by the larger; 1 if both are 0."""
    return min(a, b) / max(a, b) if max(a, b) else 1.0
