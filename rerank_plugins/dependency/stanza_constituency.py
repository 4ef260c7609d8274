"""Stanza's shift-reduce constituency parser with log-probabilities, which its public interface does not offer.

The parser chooses transitions greedily; Stanza sums raw logits, which are comparable neither between sentences nor
between trees. Here the score of a transition is the log-softmax of its logit over all transitions, so that the score of
a tree is ln p(transitions | words, tags). This relies on internals of Stanza 1.15, which the extra therefore pins, and
a test checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.scored_trees import ScoredTree

BATCH = 50  # sentences at a time, as in Stanza's pipeline

TaggedWords = Sequence[tuple[str, str]]


def parse_tagged(model: Any, sentences: Sequence[TaggedWords]) -> list[ScoredTree | None]:
    """The tree of each sentence of (word, tag) pairs; None where the parser reaches a dead end."""
    import torch

    place = {transition: i for i, transition in enumerate(model.transitions)}

    def choose(states: Sequence[Any]) -> tuple[Any, list[Any], Any]:
        logits, transitions, _ = model.predict(states)
        chosen = [place.get(transition, 0) for transition in transitions]
        scores = torch.log_softmax(logits, dim=1)[range(len(chosen)), chosen]
        return logits, transitions, scores

    longest_first = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    parses: list[ScoredTree | None] = [None] * len(sentences)
    for start in range(0, len(sentences), BATCH):
        batch = longest_first[start : start + BATCH]
        trees = _parsed(model, [sentences[i] for i in batch], choose)
        if len(trees) < len(batch):  # Stanza drops sentences without a tree, and does not say which
            alone = [_parsed(model, [sentences[i]], choose) for i in batch]
            trees = [tree for parsed in alone for tree in parsed or [None]]
        for i, tree in zip(batch, trees, strict=True):
            if tree is not None and tree.tree.words() == tuple(word for word, _ in sentences[i]):
                parses[i] = tree
    return parses


def _parsed(model: Any, batch: Sequence[TaggedWords], choose: Callable[..., Any]) -> list[ScoredTree | None]:
    build = model.build_batch_from_tagged_words
    results = model.parse_sentences_no_grad(iter(batch), build, len(batch), choose, keep_scores=True)
    best = [result.predictions[0] for result in results]
    return [ScoredTree(_tree(prediction.tree), float(prediction.score)) for prediction in best]


def _tree(node: Any) -> Tree:
    """Convert a tree of Stanza's."""
    if node.is_preterminal():
        return Tree(node.label, (node.children[0].label,))
    return Tree(node.label, tuple(_tree(child) for child in node.children))


def tags_for(model: Any, sentences: Sequence[Sequence[Any]]) -> list[list[tuple[str, str]]]:
    """Words with the kind of tags that the model was trained on: UPOS, or those of the treebank."""
    universal = not model.uses_xpos() and bool({"NOUN", "VERB"} & set(model.tags))
    return [[(word.text, (word.upos if universal else word.xpos) or "_") for word in words] for words in sentences]
