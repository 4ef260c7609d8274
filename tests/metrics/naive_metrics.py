"""Slow, obvious twins of the metrics: Counters for n-grams, a full matrix for edit distances."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence


def ngrams(tokens: Sequence[Hashable], n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu_statistics(hypothesis: str, references: Sequence[str]) -> list[int]:
    """Papineni et al. 2002, section 2.1–2.2; texts are tokenised."""
    words, others = hypothesis.split(), [reference.split() for reference in references]
    closest = min((abs(len(other) - len(words)), len(other)) for other in others)[1]
    matches, totals = [], []
    for n in range(1, 5):
        own, highest = ngrams(words, n), Counter[tuple[Hashable, ...]]()
        for other in others:
            highest |= ngrams(other, n)
        matches.append(sum((own & highest).values()))
        totals.append(sum(own.values()))
    return [len(words), closest, *matches, *totals]


def bleu_plus_one(statistics: Sequence[float], longer_by: int = 0) -> float:
    """Lin & Och 2004; `longer_by` 1 smooths the reference length as well (Nakov et al. 2012)."""
    length, reference_length = statistics[0], statistics[1] + longer_by
    matches, totals = statistics[2:6], statistics[6:10]
    if matches[0] == 0:
        return 0.0
    precisions = [matches[0] / totals[0]] + [(m + 1) / (t + 1) for m, t in zip(matches[1:], totals[1:], strict=True)]
    return 100 * min(1.0, math.exp(1 - reference_length / length)) * math.prod(precisions) ** 0.25


def chrf_statistics(hypothesis: str, reference: str, order: int = 6) -> list[int]:
    """Popović 2015, one reference, white space left out."""
    own, other = "".join(hypothesis.split()), "".join(reference.split())
    statistics = []
    for n in range(1, order + 1):
        a, b = ngrams(own, n), ngrams(other, n)
        statistics += [a.total() if b else 0, b.total(), (a & b).total()]
    return statistics


def levenshtein(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    row = list(range(len(b) + 1))
    for x in a:
        diagonal, row[0] = row[0], row[0] + 1
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def bag_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    return max(len(a), len(b)) - (Counter(a) & Counter(b)).total()
