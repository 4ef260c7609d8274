"""Treebanks as trees of content words by number, on which concepts are trained."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rerank_plugins import FloatArray, FormatError, IntArray, Tree
from rerank_plugins.constituency.training import KEPT
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, clean
from rerank_plugins.kit.vocabulary.unknown_types import types_of_unknown
from rerank_plugins.svs.concept_model import UNKNOWN_FORM, head_name, lay_out
from rerank_plugins.svs.head_arcs import HeadArcs, content_tree, head_arcs
from rerank_plugins.svs.states import HEAD, MODIFIER
from rerank_plugins.svs.tree_posteriors import GivenTrees


class HeadForest(NamedTuple):
    """T trees of N content words, which are numbers of V headwords."""

    trees: GivenTrees  # the rule of a node is its headword
    weights: FloatArray  # (T) of each tree
    heads: tuple[str, ...]  # (V) as in concept_model.py
    counts: FloatArray  # (V) how often each occurs, function words and auxiliaries among them
    used: FloatArray  # (V) how often each is a node
    part: IntArray  # (V) the number of each headword's part of speech
    relations: tuple[str, ...]
    unknown_types: Mapping[str, int]  # how many types each <unk>/c stands for, by its name

    @property
    def node_weights(self) -> FloatArray:
        """(N) the weight of each node's tree."""
        return np.repeat(self.weights, np.diff(self.trees.offsets))


def head_forest(
    treebanks: Sequence[Iterable[Tree]], weights: Sequence[float], most: int, least: float, common: float
) -> HeadForest:
    """The trees of treebanks, each with the weight of its trees.

    The `most` frequent headwords that occur `least` times are kept; the others are one for each part of speech.
    Relations that occur less than `common` times become MOD. Raises FormatError if there are no trees.
    """
    arcs, of_tree, texts = list[HeadArcs](), list[float](), dict[str, str]()
    for treebank, weight in zip(treebanks, weights, strict=True):
        for tree in treebank:
            if kept := clean(tree, CRAFT_LABELS, KEPT):
                arcs.append(_shared(head_arcs(kept), texts))
                of_tree.append(weight)
    if not arcs:
        raise FormatError("no trees to learn from")
    totals, roles, occurrences = defaultdict[str, float](float), defaultdict[str, float](float), Counter[str]()
    for arc, weight in zip(arcs, of_tree, strict=True):
        for word, tag in zip(arc.words, arc.tags, strict=True):
            totals[head_name(word, tag)] += weight
            occurrences[head_name(word, tag)] += 1
        for relation in content_tree(arc).relations:
            roles[relation] += weight
    names = sorted(totals, key=lambda name: (-totals[name], name))
    frequent = [name for name in names[:most] if totals[name] >= least]
    parts = sorted({name.rpartition("/")[2] for name in totals})
    heads = (*frequent, *(f"{UNKNOWN_FORM}/{part}" for part in parts))
    number = {name: i for i, name in enumerate(heads)}
    relations = (MODIFIER, *sorted(name for name, count in roles.items() if count >= common and name not in
                                   (MODIFIER, HEAD)))  # fmt: skip
    role = {name: i for i, name in enumerate(relations)}

    def class_of(name: str) -> int:
        return number.get(name, number[f"{UNKNOWN_FORM}/{name.rpartition('/')[2]}"])

    trees, _ = lay_out(arcs, lambda word, tag: class_of(head_name(word, tag)), lambda name: role.get(name, 0))
    counts = np.bincount([class_of(name) for name in totals], list(totals.values()), len(heads))
    used = np.bincount(trees.rule, np.repeat(of_tree, np.diff(trees.offsets)), len(heads))
    part = np.searchsorted(parts, [name.rpartition("/")[2] for name in heads]).astype(np.int32)
    return HeadForest(
        trees, np.array(of_tree), heads, counts.astype(np.float64), used.astype(np.float64), part, relations,
        types_of_rare(occurrences, frozenset(frequent)),
    )  # fmt: skip


def types_of_rare(occurrences: Mapping[str, int], kept: Container[str]) -> dict[str, int]:
    """How many types each <unk>/c stands for, by its name: those not `kept`, and the unseen ones.

    `occurrences` are of names h/c (kit/vocabulary/unknown_types.py).
    """
    of_part: dict[str, list[str]] = {}
    for name in occurrences:
        of_part.setdefault(name.rpartition("/")[2], []).append(name)
    return {
        f"{UNKNOWN_FORM}/{part}": types_of_unknown(
            np.array([occurrences[name] for name in names]), np.array([name in kept for name in names])
        )
        for part, names in sorted(of_part.items())
    }


def _shared(arcs: HeadArcs, texts: dict[str, str]) -> HeadArcs:
    """The arcs with one object for each distinct text, which takes a fraction of the memory."""
    words, tags, relations, roles = (
        tuple(texts.setdefault(text, text) for text in parts)
        for parts in (arcs.words, arcs.tags, arcs.relations, arcs.roles)
    )
    return arcs._replace(words=words, tags=tags, relations=relations, roles=roles)
