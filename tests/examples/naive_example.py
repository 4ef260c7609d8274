"""Slow, obvious twins of the example's decoder: everything by enumeration, straight from the definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations, product

import numpy as np


def alignment_posteriors(emission: np.ndarray, transition: np.ndarray, p_null: float) -> np.ndarray:
    """(J, I + 1) posteriors of the HMM over all ways to emit each word, from one of I positions or the empty word."""
    length, width = emission.shape
    result = np.zeros_like(emission)
    for alignment in product(range(width), repeat=length):
        p, last = 1.0, 0
        for j, i in enumerate(alignment):
            p *= emission[j, i] * (transition[last, i] if i else p_null)
            last = i or last
        for j, i in enumerate(alignment):
            result[j, i] += p
    shares: np.ndarray = result / result.sum(axis=1, keepdims=True)
    return shares


def phrase_pairs(f: int, e: int, links: set[tuple[int, int]], longest: int) -> set[tuple[int, int, int, int]]:
    """All boxes with a link inside and no link that shares only its rows or only its columns."""
    boxes = set()
    for i, i_end, j, j_end in product(range(f), range(1, f + 1), range(e), range(1, e + 1)):
        if 0 < i_end - i <= longest and 0 < j_end - j <= longest:
            rows = {(a, b) for a, b in links if i <= a < i_end}
            columns = {(a, b) for a, b in links if j <= b < j_end}
            if rows and rows == columns:
                boxes.add((i, i_end, j, j_end))
    return boxes


def kneser_ney(sentences: Sequence[Sequence[str]], history: tuple[str, ...], word: str, order: int) -> float:
    """p(word | history) by the recursion, counting anew at each step."""
    texts = [("<s>", *sentence, "</s>") for sentence in sentences]
    types = {w for text in texts for w in text} - {"<s>"} | {"<unk>"}

    def count(gram: tuple[str, ...]) -> int:
        if len(gram) < order and gram[0] != "<s>":
            return len({text[i - 1] for text in texts for i in _places(text, gram) if i > 0})
        return sum(1 for text in texts for _ in _places(text, gram))

    def p(h: tuple[str, ...]) -> float:
        lower = p(h[1:]) if h else 1 / len(types)
        counts = {w: count((*h, w)) for w in sorted(types)}
        total = sum(counts.values())
        if not total:
            return lower
        d = discount(len(h) + 1)
        return (max(counts[word] - d, 0) + d * sum(c > 0 for c in counts.values()) * lower) / total

    def discount(n: int) -> float:
        grams = {text[i : i + n] for text in texts for i in range(len(text) - n + 1)} - {("<s>",)}
        counts = [count(gram) for gram in grams]
        once, twice = counts.count(1), counts.count(2)
        return once / (once + 2 * twice) if once else 0.5

    return p(history)


def _places(text: tuple[str, ...], gram: tuple[str, ...]) -> list[int]:
    return [i for i in range(len(text) - len(gram) + 1) if text[i : i + len(gram)] == gram]


Step = tuple[int, int, tuple[str, ...], tuple[float, ...]]  # span of the source, words, scores
START: Step = (0, 0, (), ())


def derivations(source: Sequence[str], options: Sequence[Step], limit: int) -> Iterator[list[Step]]:
    """Every way to cover the source by options, in every order that the distortion limit allows.

    No jump is farther; and a step that does not begin at the first uncovered word ends within the limit of it.
    """

    def segmentations(start: int) -> Iterator[list[Step]]:
        if start == len(source):
            yield []
        for option in options:
            if option[0] == start:
                for rest in segmentations(option[1]):
                    yield [option, *rest]

    for steps in segmentations(0):
        for order in permutations(steps):
            jumps_allowed = all(abs(b[0] - a[1]) <= limit for a, b in pairwise([START, *order]))
            gaps = [min(step[0] for step in order[k:]) for k in range(len(order))]
            if jumps_allowed and all(s[0] == gap or s[1] - gap <= limit for s, gap in zip(order, gaps, strict=True)):
                yield list(order)


def features(derivation: list[Step], ln_p: dict[tuple[str, ...], float]) -> tuple[float, ...]:
    """Moses's values: distortion, language model, word penalty, phrase penalty, translation scores (summed)."""
    words = tuple(word for step in derivation for word in step[2])
    jumps = sum(abs(b[0] - a[1]) for a, b in pairwise([START, *derivation]))
    scores = [math.fsum(step[3][k] for step in derivation) for k in range(4)]
    return (-jumps, ln_p[words], -len(words), len(derivation), *scores)
