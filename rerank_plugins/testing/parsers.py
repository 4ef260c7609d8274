"""The contract of parsers."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np

from rerank_plugins.core.contracts import checked_parses
from rerank_plugins.core.dependency_tree import tree_fault
from rerank_plugins.core.interfaces import Parser, Sentence
from rerank_plugins.core.parse import Parse
from rerank_plugins.testing.samples import assertions, check_options


@assertions
def check_parser(parser: Parser, sentences: Sequence[Sentence]) -> None:
    """Check that a parser keeps its contract on `sentences` of your own, to which an empty one is added.

    - There is one parse for each sentence, and `parse([])` is an empty list.
    - A tree covers exactly the tokens of its sentence. A dependency tree has a head and a relation for each word, a tag
      for each word or no tags, and a single root, and it has no cycles.
    - The k best constituency trees are different from each other, and their ln p are finite.
    - An empty sentence has an empty parse, `Parse()`; any other sentence may have one.
    - A sentence has the same parse each time, in any order of sentences, alone, and from a pickled copy.
    """
    check_options("parser", parser)
    texts = [*sentences, ()]
    parses = checked_parses(parser, texts)
    assert len(parses) == len(texts), f"{len(parses)} parses for {len(texts)} sentences"
    for sentence, parse in zip(texts, parses, strict=True):
        tree = parse.dependencies
        if tree is not None:
            assert tree.words == tuple(sentence), f"the tree covers {tree.words}, the sentence is {tuple(sentence)}"
            assert len(tree.heads) == len(tree.relations) == len(tree.words), "one head and relation per word"
            assert len(tree.tags) in (0, len(tree.words)), "one tag per word, or none at all"
            fault = tree_fault(tree.heads)
            assert fault is None, f"{' '.join(sentence)}: {fault}"
        for constituents, _ in parse.constituents:
            assert constituents.words() == tuple(sentence), f"{constituents} does not cover {tuple(sentence)}"
        scores = [score for _, score in parse.constituents]
        assert all(np.isfinite(scores)), f"ln p of trees must be finite, found {scores}"
        assert len({best for best, _ in parse.constituents}) == len(scores), "the k best trees must all be different"
    assert parses[-1].is_empty, "an empty sentence must have an empty parse"
    _check_same(parser.parse(texts), parses, "parsing again must give the same parses")
    _check_same(parser.parse(texts[::-1])[::-1], parses, "parses must not depend on the order of sentences")
    alone = [parser.parse([text])[0] for text in texts[:5]]
    _check_same(alone, parses[:5], "a sentence alone must have the same parse")
    _check_same(pickle.loads(pickle.dumps(parser)).parse(texts), parses, "a pickled copy must parse the same")
    assert parser.parse([]) == [], "no sentences must give an empty list"


def _check_same(parses: Sequence[Parse], others: Sequence[Parse], message: str) -> None:
    """Check that the trees are the same, in the same order; ln p may differ by rounding."""
    assert len(parses) == len(others), message
    for parse, other in zip(parses, others, strict=True):
        assert parse.dependencies == other.dependencies, message
        assert [tree for tree, _ in parse.constituents] == [tree for tree, _ in other.constituents], message
        scores, wanted = ([score for _, score in p.constituents] for p in (parse, other))
        np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-4, err_msg=message)
