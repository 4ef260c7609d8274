"""N-gram models by interpolated Kneser–Ney smoothing (Kneser & Ney 1995; Chen & Goodman 1999), written as ARPA.

p(w | h) = max(c(h w) - D, 0) / c(h) + D N1+(h .) / c(h) * p(w | h'), where h' is h without its first word and D is
n1 / (n1 + 2 n2) of the order. Lower orders count the distinct words before an n-gram instead of the n-gram, save for
those that begin a sentence. The last step down is the uniform distribution over the words, </s> and <unk> included.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

Gram = tuple[str, ...]
Estimates = list[dict[Gram, tuple[float, float]]]  # per order: probability, and weight of the lower order after it


def estimate(sentences: Iterable[Sequence[str]], order: int) -> Estimates:
    """Probabilities and backoff weights of all n-grams seen; those of `<s>` and `<unk>` included."""
    counts = _counts(sentences, order)
    grams: Estimates = []
    for n, table in enumerate(counts, 1):
        discount = _discount(table)
        total: Counter[Gram] = Counter()
        followers: Counter[Gram] = Counter()
        for gram, count in table.items():
            total[gram[:-1]] += count
            followers[gram[:-1]] += 1
        weight = {h: discount * followers[h] / total[h] for h in total}
        level: dict[Gram, tuple[float, float]] = {}
        for gram, count in sorted(table.items()):
            h = gram[:-1]
            lower = grams[-1][gram[1:]][0] if n > 1 else 1 / (len(table) + 1)
            level[gram] = ((count - discount) / total[h] + weight[h] * lower, 1.0)
        if n == 1:
            level["<s>",] = (0.0, 1.0)
            level["<unk>",] = (weight[()] / (len(table) + 1), 1.0)
        else:
            for h, w in weight.items():
                grams[-1][h] = (grams[-1][h][0], w)
        grams.append(level)
    return grams


def _counts(sentences: Iterable[Sequence[str]], order: int) -> list[Counter[Gram]]:
    """Per order: counts at the highest, elsewhere the number of distinct words before (raw after `<s>`)."""
    raw: list[Counter[Gram]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        words = ("<s>", *sentence, "</s>")
        for n in range(1, order + 1):
            raw[n - 1].update(words[i : i + n] for i in range(len(words) - n + 1))
    del raw[0]["<s>",]  # given, never predicted
    result = []
    for n in range(1, order):
        before: Counter[Gram] = Counter(gram[1:] for gram in raw[n])
        before.update({gram: count for gram, count in raw[n - 1].items() if gram[0] == "<s>"})
        result.append(before)
    return [*result, raw[-1]]


def _discount(table: Counter[Gram]) -> float:
    once, twice = (sum(count == times for count in table.values()) for times in (1, 2))
    return once / (once + 2 * twice) if once else 0.5


def write_arpa(grams: Estimates) -> Iterator[str]:
    """Lines of an ARPA file: log10 with six decimals, -99 for the probability of `<s>`."""
    yield "\\data\\\n"
    for n, level in enumerate(grams, 1):
        yield f"ngram {n}={len(level)}\n"
    for n, level in enumerate(grams, 1):
        yield f"\n\\{n}-grams:\n"
        for gram, (p, weight) in sorted(level.items()):
            end = f"\t{_log10(weight)}" if n < len(grams) and weight != 1.0 else ""
            yield f"{_log10(p)}\t{' '.join(gram)}{end}\n"
    yield "\n\\end\\\n"


def _log10(p: float) -> str:
    return f"{math.log10(p):.6f}" if p else "-99"


def read_arpa(lines: Iterable[str]) -> dict[Gram, tuple[float, float]]:
    """All n-grams: (log10 probability, log10 backoff weight)."""
    table: dict[Gram, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for line in lines:
        columns = line.rstrip("\n").split("\t")
        if len(columns) > 1:
            table[tuple(columns[1].split(" "))] = (float(columns[0]), float(columns[2]) if len(columns) > 2 else 0.0)
    return dict(table)
