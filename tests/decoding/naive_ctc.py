"""Connectionist temporal classification, the obvious way: every path by itself, and a plain prefix beam search.

A path has one label a frame; its text is what remains without repetitions and blanks (Graves et al. 2006). The score of
a text is ln of the summed probability of all its paths + alpha · ln p(text by the language model) + beta · words. Texts
that differ in spaces alone are one text.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from rerank_plugins.core.arrays import FloatArray

Words = tuple[str, ...]
Key = tuple[Words, str, str]  # finished words, unfinished word, last label


@dataclass(frozen=True)
class Hypothesis:
    words: Words
    acoustic: float  # ln of the summed probability of all paths
    lm: float  # ln p(words, </s>)

    def score(self, alpha: float, beta: float) -> float:
        return self.acoustic + alpha * self.lm + beta * len(self.words)


class Scorer(Protocol):
    """What a search asks of a language model (`BeamScorer`): ln p of the next words of all beams in one call."""

    def start(self) -> Any: ...
    def __call__(self, prefixes: Sequence[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]: ...
    def finish_all(self, states: Sequence[Any]) -> FloatArray: ...


class Silent:
    """A language model without opinion."""

    def start(self) -> Any:
        return None

    def __call__(self, prefixes: Sequence[Any], words: Sequence[str]) -> tuple[FloatArray, list[Any]]:
        return np.zeros(len(words)), list(prefixes)

    def finish_all(self, prefixes: Sequence[Any]) -> FloatArray:
        return np.zeros(len(prefixes))


def words_of_path(path: Iterable[int], labels: Sequence[str]) -> Words:
    """The words that a path of label numbers stands for; the blank is the label ""."""
    return tuple("".join(labels[label] for label, _ in itertools.groupby(path)).split())


def every_text(log_probs: FloatArray, labels: Sequence[str]) -> dict[Words, float]:
    """ln p of each text, summed over all paths one by one."""
    texts: dict[Words, float] = defaultdict(lambda: -np.inf)
    for path in itertools.product(range(len(labels)), repeat=len(log_probs)):
        words = words_of_path(path, labels)
        texts[words] = np.logaddexp(
            texts[words], sum(frame[label] for frame, label in zip(log_probs, path, strict=True))
        )
    return dict(texts)


def greedy(log_probs: FloatArray, labels: Sequence[str]) -> Words:
    """The text of the single best path."""
    return words_of_path(log_probs.argmax(axis=1), labels)


def search(
    log_probs: FloatArray, labels: Sequence[str], scorer: Scorer | None = None, alpha: float = 0.0, beta: float = 0.0,
    *, beam: int | None = None, least: float = -np.inf,
) -> list[Hypothesis]:  # fmt: skip
    """The hypotheses of a prefix beam search with a language model inside (shallow fusion), best first.

    `beam` beams are kept after each frame (None: all), and labels of ln p below `least` are left out, unless they are
    the best of their frame. A beam is (finished words, unfinished word, last label); its language model counts the
    finished words alone.
    """
    scorer = scorer or Silent()
    fused: dict[Words, tuple[float, Any]] = {
        (): (0.0, scorer.start())
    }  # ln p of the finished words, and the state after them

    def fuse(wanted: Iterable[Words]) -> None:
        """All new words of a frame in one call."""
        steps = [words for words in dict.fromkeys(wanted) if words not in fused]
        if steps:
            values, states = scorer([fused[words[:-1]][1] for words in steps], [words[-1] for words in steps])
            for words, value, state in zip(steps, values, states, strict=True):
                fused[words] = (fused[words[:-1]][0] + value, state)

    def best(beams: dict[Key, float]) -> dict[Key, float]:
        if beam is None or len(beams) <= beam:
            return beams
        score = {key: value + alpha * fused[key[0]][0] + beta * len(key[0]) for key, value in beams.items()}
        return {key: beams[key] for key in sorted(beams, key=score.__getitem__, reverse=True)[:beam]}

    beams: dict[Key, float] = {((), "", ""): 0.0}
    for frame in log_probs:
        after: dict[Key, float] = defaultdict(lambda: -np.inf)
        for number in np.flatnonzero((frame >= least) | (frame == frame.max())):
            label = labels[int(number)]
            for (words, unfinished, last), value in beams.items():
                if label in ("", last):
                    key = (words, unfinished, label)
                elif label == " ":
                    key = ((*words, unfinished) if unfinished else words, "", label)
                else:
                    key = (words, unfinished + label, label)
                after[key] = np.logaddexp(after[key], value + frame[number])
        fuse(key[0] for key in after)
        beams = best(after)
    whole: dict[Words, float] = defaultdict(lambda: -np.inf)
    for (words, unfinished, _), value in beams.items():
        words = (*words, unfinished) if unfinished else words
        whole[words] = np.logaddexp(whole[words], value)
    fuse(whole)
    ends = scorer.finish_all([fused[words][1] for words in whole])
    found = [
        Hypothesis(words, float(value), float(fused[words][0] + end))
        for (words, value), end in zip(whole.items(), ends, strict=True)
    ]
    return sorted(found, key=lambda hypothesis: -hypothesis.score(alpha, beta))


def rescored(
    hypotheses: Sequence[Hypothesis], totals: Sequence[float] | FloatArray, alpha: float, beta: float
) -> list[Hypothesis]:
    """The hypotheses of a first pass, best first by the ln p of another language model."""
    scored = [
        Hypothesis(each.words, each.acoustic, float(total)) for each, total in zip(hypotheses, totals, strict=True)
    ]
    return sorted(scored, key=lambda hypothesis: -hypothesis.score(alpha, beta))
