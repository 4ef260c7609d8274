"""The n best distinct translations of a lattice, exactly and in order: A* from the end (Ueffing, Och & Ney 2002).

The best score from the start to each node is known from the search, so a path that grows from the end is extended in
the order of its true total, and the first to arrive is the best. Of paths with the same words from the same node only
the first is followed: any other completes to the same texts with lower totals.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count, islice
from typing import NamedTuple

from decoder.beam import Arc, Node
from decoder.weights import Weights


class Translation(NamedTuple):
    """Words, features in the order of `Weights.total`, and their weighted sum."""

    words: tuple[str, ...]
    features: tuple[float, ...]
    total: float


def translations(goal: Node) -> Iterator[tuple[tuple[str, ...], list[Arc]]]:
    """Distinct texts with their best path, best first."""
    ticket = count()  # earlier pushes first among equal totals
    heap: list[tuple[float, int, Node, float, tuple[str, ...], list[Arc]]] = [(-goal.score, 0, goal, 0.0, (), [])]
    followed: set[tuple[int, tuple[str, ...]]] = set()
    while heap:
        _, _, node, score, words, path = heapq.heappop(heap)
        if (id(node), words) in followed:
            continue
        followed.add((id(node), words))
        if not node.arcs:
            yield words, path
        for arc in node.arcs:
            longer, total = (arc.option.target if arc.option else ()) + words, score + arc.score
            entry = (-total - arc.origin.score, next(ticket), arc.origin, total, longer, [arc, *path])
            heapq.heappush(heap, entry)


def nbest(goal: Node, weights: Weights, n: int) -> list[Translation]:
    """At most n distinct translations, best first."""
    result = []
    for words, path in islice(translations(goal), n):
        features = _features(path, len(words))
        if weights.syntactic is not None:
            features = (*features, round(sum(arc.syntax for arc in path), 4))
        result.append(Translation(words, features, weights.total(features)))
    return result


def _features(path: list[Arc], length: int) -> tuple[float, ...]:
    """Distortion, language model, word penalty, phrase penalty and the four translation scores of a path."""
    options = [arc.option for arc in path if arc.option]
    distortion = -sum(arc.distance for arc in path)
    language_model = round(sum(arc.language_model for arc in path), 4)
    translation = (round(sum(option.scores[k] for option in options), 4) for k in range(4))
    return (distortion, language_model, -length, len(options), *translation)


def moses_lines(segment: int, hypotheses: list[Translation]) -> Iterator[str]:
    """Lines of an n-best list as Moses writes them."""
    for words, (distortion, lm, word_penalty, phrase_penalty, *others), total in hypotheses:
        translation, syntax = others[:4], others[4:]
        dense = (
            f"Distortion0= {distortion:g} LM0= {lm:.4f} WordPenalty0= {word_penalty:g} "
            f"PhrasePenalty0= {phrase_penalty:g} TranslationModel0= {' '.join(f'{value:.4f}' for value in translation)}"
        ) + "".join(f" SyntacticLM0= {value:.4f}" for value in syntax)
        yield f"{segment} ||| {' '.join(words)} ||| {dense} ||| {total:.6f}\n"
