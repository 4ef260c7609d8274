"""Slow, obvious twins of the similarity measures of sentences, by family, one value at a time and by name.

A sentence is its tokens; what a word says (`information`), which names a sentence has and how alike two words are is
given: these have tests of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp, isclose, log, sqrt

from tests.similarity import naive_string_similarity as strings_twin

Tokens = Sequence[str]
Information = Callable[[str], float]
FREQUENT = 6.9


def words(tokens: Tokens) -> list[str]:
    return [token.lower() for token in tokens if re.search(r"\w", token)]


def content(tokens: Tokens, information: Information) -> list[str]:
    return [word for word in words(tokens) if information(word) > FREQUENT]


def characters(tokens: Tokens) -> str:
    return " ".join(tokens).lower()


def grams(items: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(items[i : i + n]) for i in range(len(items)) if i + n <= len(items)]


def harmonic(a: Sequence[object], b: Sequence[object]) -> float:
    """2 / (|A| / |A ∩ B| + |B| / |A ∩ B|)."""
    common = len([x for x in set(a) if x in b])
    return 2 / (len(set(a)) / common + len(set(b)) / common) if common else 0.0


def jaccard(a: Sequence[object], b: Sequence[object]) -> float:
    either = {*a, *b}
    return len([x for x in either if x in a and x in b]) / len(either) if either else 0.0


def containment(a: Sequence[object], b: Sequence[object]) -> float:
    return len([x for x in set(a) if x in b]) / len(set(a)) if a else 0.0


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    both = sum(x * y for x, y in zip(a, b, strict=True))
    return both / sqrt(sum(x * x for x in a) * sum(y * y for y in b)) if both else 0.0


def overlap(a: Tokens, b: Tokens, information: Information) -> dict[str, float]:
    v, w, c, d = words(a), words(b), content(a, information), content(b, information)
    common = sum(information(x) for x in set(v) if x in w)
    first, second = (common / sum(map(information, set(x))) if x else 0.0 for x in (v, w))
    return {
        "unigram": harmonic(v, w), "bigram": harmonic(grams(v, 2), grams(w, 2)), "trigram": harmonic(grams(v, 3), grams(w, 3)),
        "content_unigram": harmonic(c, d), "content_bigram": harmonic(grams(c, 2), grams(d, 2)),
        "content_trigram": harmonic(grams(c, 3), grams(d, 3)),
        "weighted": 2 / (1 / first + 1 / second) if common else 0.0, "weighted_in_second": second,
    }  # fmt: skip


def ngrams(a: Tokens, b: Tokens, information: Information) -> dict[str, float]:
    v, w, c, d = words(a), words(b), content(a, information), content(b, information)
    values = {f"containment_{n}_content": containment(grams(c, n), grams(d, n)) for n in (1, 2)}
    values["containment_1"] = containment(v, w)
    values |= {f"jaccard_{n}": jaccard(grams(v, n), grams(w, n)) for n in (1, 2, 3, 4)}
    values |= {f"jaccard_{n}_content": jaccard(grams(c, n), grams(d, n)) for n in (2, 4)}
    for n in (2, 3, 4, 5):
        x, y = grams(characters(a), n), grams(characters(b), n)
        every = sorted({*x, *y})
        values[f"characters_{n}"] = cosine([x.count(g) for g in every], [y.count(g) for g in every])
    return values


def common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    @cache
    def longest(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        return longest(i - 1, j - 1) + 1 if a[i - 1] == b[j - 1] else max(longest(i - 1, j), longest(i, j - 1))

    return longest(len(a), len(b))


def edits(a: Sequence[str], b: Sequence[str]) -> int:
    @cache
    def least(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(least(i - 1, j) + 1, least(i, j - 1) + 1, least(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return least(len(a), len(b))


def tiling(a: Sequence[str], b: Sequence[str], shortest: int) -> float:
    """Tiles are laid along the sequence that sorts first; equal sequences are one tile."""
    if list(a) == list(b):
        return 1.0
    first, second = sorted([list(a), list(b)])
    return 2 * strings_twin.greedy_string_tiling(first, second, shortest) / (len(a) + len(b))


def strings(a: Tokens, b: Tokens, information: Information) -> dict[str, float]:
    names = ("subsequence", "subsequence_of_shorter", "substring", "tiling", "edits")
    names = (*names, "words_subsequence", "words_tiling", "words_edits")
    x, y, v, w = characters(a), characters(b), words(a), words(b)
    values = dict.fromkeys(names, 0.0)
    if x and y:
        shorter = min(len(x), len(y))
        values["subsequence"] = 2 * common_subsequence(x, y) / (len(x) + len(y))
        values["subsequence_of_shorter"] = common_subsequence(x, y) / shorter
        values["substring"] = strings_twin.longest_common_substring(list(x), list(y)) / shorter
        values["tiling"] = tiling(x, y, 3)
        values["edits"] = 1 - edits(x, y) / max(len(x), len(y))
    if v and w:
        values["words_subsequence"] = 2 * common_subsequence(v, w) / (len(v) + len(w))
        values["words_tiling"] = tiling(v, w, 1)
        values["words_edits"] = 1 - edits(v, w) / max(len(v), len(w))
    return values


def greedy(a: Sequence[str], b: Sequence[str], alike: Callable[[str, str], float]) -> list[tuple[str, str]]:
    """Again and again the most similar pair of what is left; of equal ones that of the first left, then right element."""
    left, right, pairs = list(enumerate(a)), list(enumerate(b)), []
    while left and right:
        i, j = max(
            ((x, y) for x in left for y in right),
            key=lambda pair: (alike(pair[0][1], pair[1][1]), -pair[0][0], -pair[1][0]),
        )
        left.remove(i)
        right.remove(j)
        pairs.append((i[1], j[1]))
    return pairs


def entities(a: Sequence[str], b: Sequence[str]) -> dict[str, float]:
    """By the names of both sides (equations 1 and 2 of the paper)."""
    values = {"overlap": harmonic(a, b), "none": float(not a and not b)}
    first, second = sorted([list(a), list(b)])
    measures = {
        "aligned_subsequence": lambda x, y: 2 * common_subsequence(x, y) / (len(x) + len(y)),
        "aligned_tiling": lambda x, y: tiling(x, y, 3),
    }
    for name, alike in measures.items():
        total = sum(alike(x, y) for x, y in greedy(first, second, alike))
        values[name] = total / max(len(a), len(b)) if a and b else 0.0
    return values


def shape(a: Tokens, b: Tokens, information: Information) -> dict[str, float]:
    v, w = words(a), words(b)
    numbers = [{n.replace(",", "") for token in side for n in re.findall(r"\d+(?:[.,]\d+)*", token)} for side in (a, b)]
    stocks = [{token for token in side if token[0] == "." and re.match("^[A-Z]+$", token[1:])} for side in (a, b)]
    capitals = [{token for token in side if any(c.isupper() for c in token)} for side in (a, b)]
    told = [sum(information(word) for word in set(side)) for side in (v, w)]
    return {
        "length": 1 - abs(len(v) - len(w)) / max(len(v), len(w), 1),
        "information": 1 - abs(told[0] - told[1]) / (max(told) or 1),
        "size": log(1 + len(v) + len(w)),
        "short": exp(-min(len(v), len(w)) / 10),
        "numbers_size": log(1 + len(numbers[0]) + len(numbers[1])),
        "numbers_overlap": harmonic(list(numbers[0]), list(numbers[1])) if any(numbers) else 1.0,
        "numbers_subset": float(not numbers[0] - numbers[1] or not numbers[1] - numbers[0]),
        "case": harmonic(list(capitals[0]), list(capitals[1])),
        "stocks_size": log(1 + len(stocks[0]) + len(stocks[1])),
        "stocks_overlap": harmonic(list(stocks[0]), list(stocks[1])) if any(stocks) else 1.0,
    }


def idf(
    parts: Callable[[Tokens], Sequence[object]], pairs: Sequence[tuple[Tokens, Tokens]]
) -> Callable[[object], float]:
    sentences = [parts(side) for pair in pairs for side in pair]
    return lambda part: log((len(sentences) + 1) / (sum(part in sentence for sentence in sentences) + 1))


def tfidf(a: Tokens, b: Tokens, pairs: Sequence[tuple[Tokens, Tokens]]) -> dict[str, float]:
    parts: dict[str, Callable[[Tokens], Sequence[object]]] = {
        "words": words, "stems": lambda tokens: [word[:5] for word in words(tokens)],
    }  # fmt: skip
    parts |= {f"characters_{n}": lambda tokens, n=n: grams(characters(tokens), n) for n in (2, 3, 4, 5)}  # type: ignore[misc]
    values = {}
    for name, of in parts.items():
        x, y, weight = of(a), of(b), idf(of, pairs)
        every = list(dict.fromkeys([*x, *y]))
        values[name] = cosine([x.count(p) * weight(p) for p in every], [y.count(p) * weight(p) for p in every])
        if not name.startswith("characters"):
            common = sum(weight(p) for p in set(x) if p in y)
            whole = sum(weight(p) for p in set(x)) + sum(weight(p) for p in set(y))
            values[f"{name}_shared"] = 2 * common / whole if common else 0.0
    return values


def aligned_sides(
    a: Tokens, b: Tokens, alike: Callable[[str, str], float], weight: Callable[[str], float]
) -> tuple[float, float]:
    """Weighted means of the similarity of each word to the most similar one of the other sentence; 0, 0 without weights."""
    means = []
    for side, other in ((set(a), b), (set(b), a)):
        if not other or isclose(sum(map(weight, side)), 0):
            return 0.0, 0.0
        best = {w: max(1.0 if w == u else alike(w, u) for u in other) for w in side}
        means.append(sum(weight(w) * best[w] for w in side) / sum(map(weight, side)))
    return means[0], means[1]


def aligned(
    a: Tokens, b: Tokens, alike: Callable[[str, str], float], weight: Callable[[str], float]
) -> float:  # fmt: skip
    one, other = aligned_sides(a, b, alike, weight)
    return 2 * one * other / (one + other) if one + other else 0.0


def vectors(
    a: Tokens, b: Tokens, table: Mapping[str, Sequence[float]], information: Information, pairs: Sequence[tuple[Tokens, Tokens]]
) -> dict[str, float]:  # fmt: skip
    """Of one space; `table` has the vectors of the words that are known."""
    weight = idf(words, pairs)
    values = {}
    for name, weigh in {"none": lambda _: 1.0, "idf": weight, "information": information}.items():
        sums = [
            [
                sum(weigh(w) * table[w][i] for w in words(side) if w in table)
                for i in range(len(next(iter(table.values()))))
            ]
            for side in (a, b)
        ]
        values[name] = cosine(*sums)
    product = lambda w, u: sum(x * y for x, y in zip(table[w], table[u], strict=True))  # noqa: E731  of unit length
    alike = lambda w, u: max(0.0, min(1.0, product(w, u))) if w in table and u in table else 0.0  # noqa: E731
    return values | {"aligned": aligned(words(a), words(b), alike, weight)}


def wordnet(
    a: Tokens, b: Tokens, alike: Mapping[str, Callable[[str, str], float]], information: Information,
    pairs: Sequence[tuple[Tokens, Tokens]],
) -> dict[str, float]:  # fmt: skip
    """By the similarities of words, a function a measure."""
    v, w, weight = words(a), words(b), idf(words, pairs)
    values = {name: aligned(v, w, alike[name], weight) for name in ("path", "wup", "lch", "lin", "jcn")}
    values["resnik"] = sum(aligned_sides(v, w, alike["resnik"], weight)) / 2
    values["augmented"] = aligned(v, w, alike["path"], lambda _: 1.0)
    lin = lambda x, y: 1.0 if x == y else alike["lin"](x, y)  # noqa: E731
    first, second = sorted([v, w])
    told = sum(max(information(x), information(y)) * lin(x, y) for x, y in greedy(first, second, lin))
    values["greedy_lemmas"] = told / max(len(v), len(w)) if v and w else 0.0
    return values
