"""Parses as bytes for the cache: compressed JSON that leaves out the words, which are at hand where a parse is wanted.

A dependency tree is its heads, relations and tags: some 7 bytes a word. The trees of a k-best list share most of their
subtrees: kept are the distinct subtrees, children before parents, each as its label and its children's numbers (of a
preterminal: -1 minus the number of its word), then the number of each tree's root, with its ln p.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from itertools import count
from typing import Any

from rerank_plugins.interfaces import Parse, ScoredTree, Sentence
from rerank_plugins.trees.constituency import Tree
from rerank_plugins.trees.dependency import DependencyTree

USUAL = b"""\
ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X acl acl:relcl advcl advcl:relcl
advmod amod appos aux aux:pass case cc ccomp compound compound:prt conj cop csubj dep det det:predet discourse
dislocated expl fixed flat flat:foreign goeswith iobj list mark nmod nmod:npmod nmod:poss nmod:tmod nmod:unmarked
nsubj nsubj:outer nsubj:pass nummod obj obl obl:agent obl:npmod obl:tmod obl:unmarked orphan parataxis punct
reparandum root vocative xcomp
""".replace(b" ", b'","').replace(b"\n", b'","')


def pack(parse: Parse) -> bytes:
    """The parse without its words."""
    tree = parse.dependencies
    plain: Any = None if tree is None else [tree.heads, tree.relations, tree.tags]
    if parse.constituents:
        plain = {"dependencies": plain, "constituents": _shared(parse.constituents)}
    packer = zlib.compressobj(zdict=USUAL)
    return packer.compress(json.dumps(plain, separators=(",", ":")).encode()) + packer.flush()


def unpack(packed: bytes, sentence: Sentence) -> Parse | None:
    """The parse of the sentence; None for a value that is damaged or of another sentence."""
    try:
        plain = json.loads(zlib.decompressobj(zdict=USUAL).decompress(packed))
        constituents = None
        if isinstance(plain, dict):
            plain, constituents = plain["dependencies"], _trees(sentence, *plain["constituents"])
        dependencies = None
        if plain is not None:
            heads, relations, tags = plain
            if len(heads) != len(sentence) or len(relations) != len(sentence):
                return None
            dependencies = DependencyTree(tuple(sentence), tuple(heads), tuple(relations), tuple(tags))
    except (zlib.error, ValueError, TypeError, LookupError):
        return None
    if constituents and constituents[0].tree.words() != tuple(sentence):
        return None
    return Parse(dependencies, constituents or ())


def over_tokens(parse: Parse, sentence: tuple[str, ...]) -> Parse:
    """The parse over exactly these tokens, where its own words are their normal forms (trees/penn.py), or others."""
    words = [tree.words() for tree, _ in parse.constituents[:1]]
    words += [parse.dependencies.words] if parse.dependencies is not None else []
    return parse if all(each == sentence for each in words) else unpack(pack(parse), sentence) or Parse()


def _shared(scored: Sequence[ScoredTree]) -> tuple[list[str], list[list[int]], list[int], list[float]]:
    """Labels, distinct subtrees, root of each tree, ln p of each."""
    labels: dict[str, int] = {}
    nodes: dict[tuple[int, ...], int] = {}

    def number(label: str, children: list[int]) -> int:
        return nodes.setdefault((labels.setdefault(label, len(labels)), *children), len(nodes))

    roots = []
    for tree, _ in scored:
        words = count(-len(tree.words()))  # a fold goes from right to left
        root = tree.fold(
            lambda tag, words=words: number(tag.label, [next(words)]),  # type: ignore[misc]
            lambda node, below: number(node.label, below),
        )
        roots.append(root)
    return list(labels), [list(node) for node in nodes], roots, [float(score) for _, score in scored]


def _trees(
    sentence: Sentence, labels: list[str], nodes: list[list[int]], roots: list[int], scores: list[float]
) -> tuple[ScoredTree, ...]:
    """The k-best list; its trees share subtrees as objects, too."""
    made: list[Tree] = []
    for label, *children in nodes:
        below = (sentence[-1 - children[0]],) if children[0] < 0 else tuple(made[child] for child in children)
        made.append(Tree(labels[label], below))
    return tuple(ScoredTree(made[root], score) for root, score in zip(roots, scores, strict=True))
