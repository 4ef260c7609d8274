"""The hierarchies of nouns and verbs as arrays: ancestors, depths, information content.

A part of speech with several topmost synsets (verbs; nouns before WordNet 3) has one more synset above them, so that
any two have a subsumer, as in WordNet::Similarity (Pedersen et al. 2004); adjectives and adverbs have no hierarchy.

Information content (Resnik 1995): IC(c) = -ln P(c), where P(c) is the share that c and all below it have of the mass
of their part of speech. The mass of a word is its relative frequency in plain text, shared equally among the senses
that it may have; every synset has, beside that, as much as a word seen once, so that none has P = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rerank_plugins.arrays import FloatArray, LongArray
from rerank_plugins.models.wordnet.database import PARTS, Database
from rerank_plugins.models.wordnet.kernels import ancestors, spread
from rerank_plugins.models.wordnet.morphology import lemmas

WITH_HIERARCHY = ("noun", "verb")


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Per synset: (S + 1) `places` of its `ancestors` and their `distances`; (S) `depth`, nodes from the topmost synset
    to it by the shortest way; (S) `deepest`, the nodes of the longest way down its part of speech (20 for the nouns of
    WordNet 3.0); (S) `information` content, ≥ 0, and (S) `highest`, the greatest one of its part of speech.
    """

    places: LongArray
    ancestors: LongArray
    distances: LongArray
    depth: LongArray
    deepest: LongArray
    information: FloatArray
    highest: FloatArray


def build_taxonomy(database: Database, frequencies: Mapping[str, float]) -> Taxonomy:
    """The hierarchies of a database, with information content by the `frequencies` of lower-case words."""
    part, starts, hypernyms = with_roots(database)
    places, above, distances = ancestors(starts, hypernyms)
    depth, root = np.ones(len(part), np.int64), np.diff(starts) == 0
    owner = np.repeat(np.arange(len(part)), np.diff(places))
    topmost = root[above]
    depth[owner[topmost]] = distances[topmost] + 1
    longest = longest_ways(starts, hypernyms, places, above)
    deepest = np.array([longest[part == p].max(initial=1) for p in range(len(PARTS))], np.int64)[part]
    masses = _masses(database, len(part), frequencies)
    below = spread(masses, places, above)
    whole = np.bincount(part, masses, len(PARTS))[part]
    information = -np.log(np.minimum(below / whole, 1.0))
    highest = np.array([information[part == p].max(initial=0.0) for p in range(len(PARTS))])[part]
    return Taxonomy(places, above, distances, depth, deepest, information, highest)


def longest_ways(starts: LongArray, hypernyms: LongArray, places: LongArray, above: LongArray) -> LongArray:
    """(S) the nodes on the longest way from a topmost synset to each, steps within a cycle left out."""
    size = len(starts) - 1
    below = np.repeat(np.arange(size), np.diff(starts))
    upwards = np.repeat(np.arange(size), np.diff(places)) * size + above  # each synset with each above it, in order
    back = hypernyms * size + below
    at = np.minimum(np.searchsorted(upwards, back), max(len(upwards) - 1, 0))
    straight = upwards[at] != back
    nodes, known = np.ones(size, np.int64), 0
    while known != (known := int(nodes.sum())):
        np.maximum.at(nodes, below[straight], nodes[hypernyms[straight]] + 1)
    return nodes


def with_roots(database: Database) -> tuple[LongArray, LongArray, LongArray]:
    """Parts of speech, starts and hypernyms with a synset put above several topmost ones, and above cycles."""
    lists = [list(each) for each in np.split(database.hypernyms, database.starts[1:-1])] if len(database.part) else []
    part = database.part.tolist()
    for p, name in enumerate(PARTS):
        own: list[int] = np.flatnonzero(database.part == p).tolist()
        if name not in WITH_HIERARCHY or not own:
            continue
        roots = [s for s in own if not lists[s]]
        roots += _unreached(own, roots, lists)
        if len(roots) > 1:
            for s in roots:
                lists[s].append(len(lists))
            part.append(p)
            lists.append([])
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return np.array(part, np.int64), starts, np.array([h for each in lists for h in each], np.int64)


def _unreached(own: list[int], roots: list[int], hypernyms: list[list[int]]) -> list[int]:
    """One synset of each cycle that has no way out to a root (WordNet 3.0 has one among its verbs)."""
    below: dict[int, list[int]] = {}
    for synset in own:
        for above in hypernyms[synset]:
            below.setdefault(above, []).append(synset)
    reached, chosen = set[int](), list[int]()

    def reach(root: int) -> None:
        waiting = [root]
        while waiting:
            if (synset := waiting.pop()) not in reached:
                reached.add(synset)
                waiting += below.get(synset, [])

    for root in roots:
        reach(root)
    for synset in own:
        if synset not in reached:
            top = _in_cycle(synset, hypernyms)
            chosen.append(top)
            reach(top)
    return chosen


def _in_cycle(synset: int, hypernyms: list[list[int]]) -> int:
    """The first synset that a way up comes to twice."""
    seen = set[int]()
    while synset not in seen:
        seen.add(synset)
        synset = hypernyms[synset][0]
    return synset


def _masses(database: Database, synsets: int, frequencies: Mapping[str, float]) -> FloatArray:
    """(S) the mass of each synset alone."""
    least = min(frequencies.values(), default=1.0)
    masses = np.zeros(synsets)
    masses[: len(database.part)] = least
    for word, frequency in frequencies.items():
        found = [s for p in range(len(PARTS)) for lemma in lemmas(word, p, database) for s in database.senses[p][lemma]]
        if found:
            np.add.at(masses, found, frequency / len(found))
    return masses
