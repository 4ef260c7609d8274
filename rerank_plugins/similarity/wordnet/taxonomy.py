"""The hierarchies of nouns and verbs as arrays: ancestors, depths, information content.

If a part of speech has several topmost synsets (verbs; nouns before WordNet 3), one root is added above them, so that
any two synsets have a subsumer, as in WordNet::Similarity (Pedersen et al. 2004). Adjectives and adverbs have no
hierarchy.

Information content (Resnik 1995) is IC(c) = -ln P(c), where P(c) is the part of c and all synsets below it in the mass
of their part of speech. The mass of a word is its relative frequency in plain text, divided equally among its possible
senses. In addition, every synset has the mass of the rarest word, so that P > 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.similarity.wordnet.database import PARTS, Database
from rerank_plugins.similarity.wordnet.hierarchy_measures import ancestors, spread
from rerank_plugins.similarity.wordnet.morphology import lemmas

WITH_HIERARCHY = ("noun", "verb")


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The hierarchies of all parts of speech as arrays over synsets.

    The `ancestors` of synset s and their `distances` are at `places[s] : places[s + 1]`. `depth` (S) is the number of
    nodes on the shortest path from the root to a synset; `deepest` (S) the number of nodes on the longest path of its
    part of speech (20 for the nouns of WordNet 3.0); `information` (S) its information content, ≥ 0; and `highest` (S)
    the maximum information content in its part of speech.
    """

    places: LongArray
    ancestors: LongArray
    distances: LongArray
    depth: LongArray
    deepest: LongArray
    information: FloatArray
    highest: FloatArray


def build_taxonomy(database: Database, frequencies: Mapping[str, float]) -> Taxonomy:
    """Build the hierarchies of a database; `frequencies` are the relative frequencies of lower-case words."""
    part, starts, hypernyms = with_roots(database)
    places, above, distances = ancestors(starts, hypernyms)
    depth, root = np.ones(len(part), np.int64), np.diff(starts) == 0
    owner = np.repeat(np.arange(len(part)), np.diff(places))
    topmost = root[above]
    depth[owner[topmost]] = distances[topmost] + 1
    longest = longest_ways(starts, hypernyms, places, above)
    deepest = np.array([longest[part == p].max(initial=1) for p in range(len(PARTS))], np.int64)[part]
    masses = _masses(database, len(part), frequencies)
    cumulative = spread(masses, places, above)
    total = np.bincount(part, masses, len(PARTS))[part]
    information = -np.log(np.minimum(cumulative / total, 1.0))
    highest = np.array([information[part == p].max(initial=0.0) for p in range(len(PARTS))])[part]
    return Taxonomy(places, above, distances, depth, deepest, information, highest)


def longest_ways(starts: LongArray, hypernyms: LongArray, places: LongArray, above: LongArray) -> LongArray:
    """The (S) numbers of nodes on the longest path from a root to each synset, without steps within a cycle."""
    size = len(starts) - 1
    below = np.repeat(np.arange(size), np.diff(starts))
    # A step from b up to h lies in a cycle if b is an ancestor of h; pairs (synset, ancestor) are sorted codes.
    ancestor_codes = np.repeat(np.arange(size), np.diff(places)) * size + above
    reverse_codes = hypernyms * size + below
    at = np.minimum(np.searchsorted(ancestor_codes, reverse_codes), max(len(ancestor_codes) - 1, 0))
    acyclic = ancestor_codes[at] != reverse_codes
    # Relax all steps until no number of nodes changes.
    nodes, known = np.ones(size, np.int64), 0
    while known != (known := int(nodes.sum())):
        np.maximum.at(nodes, below[acyclic], nodes[hypernyms[acyclic]] + 1)
    return nodes


def with_roots(database: Database) -> tuple[LongArray, LongArray, LongArray]:
    """Parts of speech, starts and hypernyms, with one root added above several topmost synsets or cycles."""
    lists = (
        [list(targets) for targets in np.split(database.hypernyms, database.starts[1:-1])] if len(database.part) else []
    )
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
    return np.array(part, np.int64), starts, np.array([h for targets in lists for h in targets], np.int64)


def _unreached(own: list[int], roots: list[int], hypernyms: list[list[int]]) -> list[int]:
    """One synset of each cycle from which no path leads to a root (WordNet 3.0 has one among its verbs)."""
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
    """The first synset that is visited twice on the path up through first hypernyms."""
    seen = set[int]()
    while synset not in seen:
        seen.add(synset)
        synset = hypernyms[synset][0]
    return synset


def _masses(database: Database, synsets: int, frequencies: Mapping[str, float]) -> FloatArray:
    """The (S) mass of each synset without those below it."""
    least = min(frequencies.values(), default=1.0)
    masses = np.zeros(synsets)
    masses[: len(database.part)] = least
    for word, frequency in frequencies.items():
        senses = [
            s for p in range(len(PARTS)) for lemma in lemmas(word, p, database) for s in database.senses[p][lemma]
        ]
        if senses:
            np.add.at(masses, senses, frequency / len(senses))
    return masses
