"""The contract of parsers: one parse for each sentence, whose trees are trees over exactly its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.core.guests.arrays import several, type_of
from rerank_plugins.core.guests.calls import Call, quoted
from rerank_plugins.core.interfaces import Parse
from rerank_plugins.core.scored_trees import ScoredTree


def parse(call: Call, value: Any) -> Any:
    """One `Parse` for each sentence."""
    sentences = call.given[0]
    if not isinstance(value, list | tuple) or len(value) != len(sentences):
        raise call.wanted(several(value), f"a list of {len(sentences)} parses, one for each sentence")
    for sentence, found in zip(sentences, value, strict=True):
        where = f"sentence {quoted(sentence)}"
        if not isinstance(found, Parse):
            raise call.wanted(type_of(found), "a Parse", where)
        if found.dependencies is not None:
            _dependencies(call, found.dependencies, tuple(sentence), where)
        if not isinstance(found.constituents, Sequence):
            raise call.wanted(type_of(found.constituents), "a sequence of ScoredTrees", where)
        _constituents(call, found.constituents, tuple(sentence), where)
    return list(value)


def _dependencies(call: Call, tree: Any, words: tuple[str, ...], where: str) -> None:
    if not isinstance(tree, DependencyTree):
        raise call.wanted(type_of(tree), "a DependencyTree or None", where)
    if tuple(tree.words) != words:
        raise call.wanted(f"a tree over {quoted(tree.words)}", "a tree over the words of the sentence", where)
    for name, values, lengths in (
        ("heads", tree.heads, (len(words),)),
        ("relations", tree.relations, (len(words),)),
        ("tags", tree.tags, (0, len(words))),
    ):
        if not isinstance(values, tuple) or len(values) not in lengths:
            size = several(values)
            raise call.wanted(f"{name} that are {size}", f"a tuple of {' or '.join(map(str, lengths))}", where)
    for word, head in enumerate(tree.heads):
        if not isinstance(head, int) or isinstance(head, bool):
            raise call.wanted(f"{type_of(head)} as the head of word {word}", "the number of a word, or -1", where)
    if words and (fault := tree_fault(tree.heads)):
        raise call.wanted(f"heads {quoted(list(map(str, tree.heads)))}", f"a tree: {_from_zero(fault.text)}", where)
    if not all(isinstance(name, str) for name in (*tree.relations, *tree.tags)):
        raise call.wanted("relations or tags that are no texts", "texts", where)


def _from_zero(fault: str) -> str:
    """The fault of a tree, whose numbers are those of CoNLL-U."""
    return f"{fault} (words are counted from 1)"


def _constituents(call: Call, trees: Sequence[Any], words: tuple[str, ...], where: str) -> None:
    for number, scored in enumerate(trees, 1):
        here = f"{where}, tree {number} of {len(trees)}"
        if not isinstance(scored, ScoredTree):
            raise call.wanted(type_of(scored), "a ScoredTree", here)
        _brackets(call, scored.tree, words, here)
        ln_p = scored.log_probability
        if not isinstance(ln_p, float | int) or not math.isfinite(ln_p):
            raise call.wanted(f"ln p = {ln_p}", "a finite number", here)


def _brackets(call: Call, tree: Any, words: tuple[str, ...], where: str) -> None:
    """Check that a tree consists of trees, with a label each, down to the words of the sentence in their order."""
    if not isinstance(tree, Tree):
        raise call.wanted(type_of(tree), "a Tree", where)
    found: list[str] = []
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            found.append(node)
            continue
        if not isinstance(node, Tree) or not isinstance(node.label, str):
            raise call.wanted(type_of(node), "a Tree with a label, or a word", where)
        children = node.children
        if not isinstance(children, tuple) or not children:
            raise call.wanted(f"{node.label} without children in a tuple", "a word, or one tree or more", where)
        if any(isinstance(child, str) for child in children) and len(children) > 1:
            raise call.wanted(f"{node.label} over a word and more", "a tag over one word, or a phrase of trees", where)
        if len(found) + len(todo) > len(words):  # each of them is over a word
            raise call.wanted("a tree over more words", f"a tree over the {len(words)} of the sentence", where)
        todo.extend(children[::-1])
    if tuple(found) != words:
        raise call.wanted(f"a tree over {quoted(found)}", "a tree over the words of the sentence", where)
