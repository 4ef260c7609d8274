"""Slow, obvious twins of the features and of n-gram scoring, and small models for tests."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

CORPUS = [
    sentence.split()
    for sentence in (
        "the cat sat on the mat .",
        "the dog sat on the cat .",
        "a dog barked at the cat on the mat .",
        "the cat , it seems , barked .",
    )
]


def ngrams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def consensus(texts: Sequence[str], posterior: Sequence[float], n: int) -> list[float]:
    """h_n of each text: for the k-th occurrence of each n-gram of it, the mass of the texts that have it k times."""
    counts = [Counter(ngrams(text.split(), n)) for text in texts]
    features = []
    for own in counts:
        masses = []
        for gram, times in own.items():
            for k in range(1, times + 1):
                masses.append(sum(p for p, other in zip(posterior, counts, strict=True) if other[gram] >= k))
        features.append(sum(masses))
    return features


def softmax(values: Sequence[float], scale: float = 1.0) -> list[float]:
    top = max(values)
    masses = [math.exp(scale * (value - top)) for value in values]
    return [mass / sum(masses) for mass in masses]


def overlap(text: str, source: str, *, ignore_case: bool = True) -> tuple[float, float]:
    """Shares of hypothesis and source tokens that can be crossed out in pairs."""
    left, right = text.split(), source.split()
    if ignore_case:
        left, right = [word.lower() for word in left], [word.lower() for word in right]
    rest, same = list(right), 0
    for word in left:
        if word in rest:
            rest.remove(word)
            same += 1
    return (same / len(left), same / len(right)) if left and right else (0.0, 0.0)


def write_arpa(path: Path, sentences: Sequence[Sequence[str]] = CORPUS, order: int = 3) -> Path:
    """An n-gram model with absolute discounting (0.5), good enough to query; `<unk>` shares the discounted mass."""
    grams: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        words = ["<s>", *sentence, "</s>"]
        for n in range(1, order + 1):
            grams[n - 1].update(ngrams(words, n))
    tokens = sum(times for (word,), times in grams[0].items() if word != "<s>")
    lines = ["\\data\\", *(f"ngram {n + 1}={len(table) + (n == 0)}" for n, table in enumerate(grams))]
    for n, table in enumerate(grams, 1):
        lines += ["", f"\\{n}-grams:"]
        if n == 1:
            lines.append(f"{math.log10(0.5 * (len(table) - 1) / tokens / 2):.6f}\t<unk>\t0")
        for gram, times in sorted(table.items()):
            mass = grams[n - 2][gram[:-1]] if n > 1 else tokens
            log10 = -99.0 if gram == ("<s>",) else math.log10((times - 0.5) / mass)
            kinds = sum(longer[:n] == gram for longer in grams[n]) if n < order else 0
            back = f"\t{math.log10(max(0.5 * kinds / times, 1e-3)):.6f}" if n < order else ""
            lines.append(f"{log10:.6f}\t{' '.join(gram)}{back}")
    path.write_text("\n".join([*lines, "", "\\end\\", ""]), encoding="utf-8")
    return path


def arpa_scores(path: Path, words: Sequence[str]) -> list[float]:
    """Ln p of each word and </s>, by the back-off recursion read off an ARPA file."""
    log10: dict[tuple[str, ...], float] = {}
    back: dict[tuple[str, ...], float] = {}
    n = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.endswith("-grams:"):
            n = int(line[1:].partition("-")[0])
        elif n and "\t" in line:
            value, gram, *rest = line.split("\t")
            log10[tuple(gram.split(" "))] = float(value)
            back[tuple(gram.split(" "))] = float(rest[0]) if rest else 0.0
    order = max(map(len, log10))

    def conditional(context: tuple[str, ...], word: str) -> float:
        if (*context, word) in log10:
            return log10[(*context, word)]
        return log10[("<unk>",)] if not context else back.get(context, 0.0) + conditional(context[1:], word)

    known = [word if (word,) in log10 else "<unk>" for word in words]
    whole = ["<s>", *known, "</s>"]
    return [math.log(10) * conditional(tuple(whole[max(0, i - order + 1) : i]), whole[i]) for i in range(1, len(whole))]
