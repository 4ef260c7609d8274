"""Parsing with labels that bear marks: pruned by label, the trees and their ln p are those of the whole chart."""

from __future__ import annotations

import random
from copy import copy
from itertools import pairwise

import numpy as np
import pytest

from rerank_plugins import Tree
from rerank_plugins.constituency.parsing import ChartParser, Decoding
from rerank_plugins.constituency.split_merge import Schedule
from rerank_plugins.constituency.training import GrammarSettings, train_grammar
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.kit.charts.hypergraph import Hypergraph, add_edge, hypergraph, joined, make_edges

NOUNS = [("dog", "dogs"), ("boy", "boys"), ("sheep", "sheep")]
VERBS = [("barks", "bark"), ("runs", "run"), ("sees", "see")]


def trees(count: int, seed: int) -> list[Tree]:
    """Trees in which subjects agree with their verbs, with several prepositional phrases that attach anywhere."""
    draws = random.Random(seed)

    def phrase(depth: int) -> str:
        plural = draws.random() < 0.5
        noun = f"(NP (DT the) ({'NNS' if plural else 'NN'} {draws.choice(NOUNS)[plural]}))"
        return f"(NP {noun} (PP (IN near) {phrase(depth - 1)}))" if depth and draws.random() < 0.4 else noun

    texts = []
    for _ in range(count):
        subject = phrase(2)
        plural = "NNS" in subject.split("(PP")[0]
        verb = f"({'VBP' if plural else 'VBZ'} {draws.choice(VERBS)[plural]})"
        modifier = f" (PP (IN near) {phrase(1)})" if draws.random() < 0.5 else ""
        texts.append(f"(ROOT (S {subject} (VP {verb}{modifier}) (. .)))")
    return list(read_trees(texts))


@pytest.fixture(scope="module")
def parsers() -> tuple[ChartParser, ChartParser]:
    """A parser of a grammar with marks, and the same one without pruning by label."""
    settings = GrammarSettings("en", features=("number", "complement"), schedule=Schedule(rounds=1, rare=5.0))
    parser = ChartParser(train_grammar([trees(200, 1)], [1.0], settings))
    assert parser.labels is not None
    whole = copy(parser)
    whole.labels = None
    return parser, whole


@pytest.mark.parametrize("criterion", ["mbr", "viterbi"])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("tagged", [False, True])
def test_the_trees_are_those_of_the_whole_chart(parsers, criterion: str, k: int, tagged: bool) -> None:  # type: ignore[no-untyped-def]
    decoding = Decoding(criterion, k, 1e-8)  # type: ignore[arg-type]
    for tree in trees(20, 2):
        found, wanted = (
            list(
                parser.parse_tagged(tree.words(), tree.tags(), decoding)
                if tagged
                else parser.k_best(tree.words(), decoding)
            )
            for parser in parsers
        )
        assert wanted
        assert [parse.tree for parse in found[:1]] == [parse.tree for parse in wanted[:1]]
        assert [parse.log_probability for parse in found] == pytest.approx([parse.log_probability for parse in wanted])


def test_labels_are_pruned(parsers, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """With a threshold; without one, the chart has all labels."""
    parser, _ = parsers
    words = parser.grammar.lexicon.ids(["the", "dogs", "near", "the", "boy", "bark", "."])
    parser.chart.fill(words)
    scales = parser.chart.scales[1 : len(words) + 1].copy()
    counts = np.ones((len(words) * (len(words) + 1) // 2, len(parser.grammar.bases)))
    whole, pruned = (parser._pruned_chart(counts, words, scales, 1e-3, labels) for labels in (None, parser.labels))
    assert pruned.items.offsets[-1] < whole.items.offsets[-1] / 2  # values of symbols
    assert pruned.total == pytest.approx(whole.total)
    pruned_chart, given = parser._pruned_chart, []
    monkeypatch.setattr(parser, "_pruned_chart", lambda *values: given.append(values[-1]) or pruned_chart(*values))
    for threshold in (1e-3, 0.0):
        assert parser.k_best(["the", "dogs", "bark", "."], Decoding("mbr", 1, threshold))
    assert given == [parser.labels, None]


def random_graph(seed: int) -> Hypergraph:
    """A hypergraph of two cells of three items each and a third with ROOT, with posteriors."""
    draws = random.Random(seed)
    edges = make_edges(14, 60)
    count = 0
    for item in range(6):
        count = add_edge(edges, count, 2 * item, -1, -1, draws.uniform(0.1, 0.3))
    for item in range(7):
        count = add_edge(edges, count, 2 * item + 1, 2 * item, -1, 1.0)
    for left in range(3):
        for right in range(3, 6):
            count = add_edge(edges, count, 12, 2 * left + 1, 2 * right + 1, draws.uniform(0.01, 0.1))
    return hypergraph(np.array([0, 3, 6, 7], np.int32), edges, count, 6)


def listed(graph: Hypergraph) -> dict[tuple[int, int, int], float]:
    """The edges of a hypergraph by their vertices."""
    found = {}
    for vertex, first in enumerate(graph.edges.first.tolist()):
        edge = first
        while edge >= 0:
            found[vertex, int(graph.edges.left[edge]), int(graph.edges.right[edge])] = float(graph.edges.score[edge])
            edge = int(graph.edges.next[edge])
    return found


def test_joined_items_have_the_sums_of_posteriors() -> None:
    graph = random_graph(1)
    number = np.array([0, 0, 1, 2, 3, 3, 4])
    new = joined(graph, number, np.array([0, 2, 4, 5], np.int32), 0.999)
    wanted: dict[tuple[int, int, int], float] = {}
    for ends, score in listed(graph).items():
        key = tuple(-1 if end < 0 else 2 * int(number[end // 2]) + end % 2 for end in ends)
        wanted[key] = wanted.get(key, 0.0) + float(np.exp(score))  # type: ignore[index, arg-type]
    wanted = {key: 1.0 if 0 <= key[1] == key[0] - 1 else value for key, value in wanted.items()}
    assert {key: np.exp(score) for key, score in listed(new).items()} == pytest.approx(wanted)
    assert new.top == 9
    binary = max(score for (head, left, _), score in listed(new).items() if head == 8)
    assert new.edges.best[8] >= binary + min(new.edges.best[:8])
    assert all(a <= b for a, b in pairwise(sorted(listed(new))))
