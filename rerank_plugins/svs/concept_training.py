"""Trains concepts of headwords by EM on trees whose concepts are hidden (Wu and Schuler 2011, §3.1).

The first concepts are clusters of headwords by their contexts (context_vectors.py): P(i | h) ∝ exp(β cos(v_h, μ_i)),
and from them P_H by Bayes' rule and P_L by the arcs between headwords. Then each iteration computes expected counts on
all trees, block by block, and normalises them with pseudo-counts κ and λ:

    P_H(h | c, i) = (E(h, i) + κ P(h | c)) / (E(c, i) + κ)
    P_L(j | i, l) = (E(i, j, l) + λ P(j | l)) / (E(i, l) + λ)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins import ConfigError, FloatArray, Tree
from rerank_plugins.kit.files.coarse_floats import coarse
from rerank_plugins.svs.concept_model import ConceptModel
from rerank_plugins.svs.context_vectors import (
    cluster_centres,
    relation_contexts,
    singular_vectors,
    unit_rows,
    window_contexts,
)
from rerank_plugins.svs.head_forest import HeadForest, head_forest
from rerank_plugins.svs.tree_posteriors import ConceptCounts, GivenTrees, add_expected

TREES_A_BLOCK = 2000  # trees whose posteriors are in memory at a time
ARCS = 100_000  # arcs whose concepts are in memory at a time
TINY = 1e-12


@dataclass(frozen=True)
class ConceptSettings:
    """The settings of training."""

    language: str
    concepts: int = 100  # K
    headwords: int = 15_000  # at most so many; the others are one for each part of speech
    least: float = 5.0  # occurrences of a headword; a relation occurs a hundred times as often
    iterations: int = 4  # of EM
    dimensions: int = 200  # of the vectors of contexts
    sharpness: float = 10.0  # β, how close P(i | h) keeps to the nearest cluster at first
    # κ, λ: pseudo-counts of P_H and P_L
    head_prior: float = 50.0
    relation_prior: float = 50.0
    seed: int = 1

    def __post_init__(self) -> None:
        if min(self.concepts, self.headwords, self.dimensions) < 1 or self.iterations < 0:
            raise ConfigError("concepts, headwords and dimensions are 1 or more, iterations 0 or more")
        if min(self.sharpness, self.head_prior, self.relation_prior) < 0 or self.least <= 0:
            raise ConfigError("sharpness and pseudo-counts are 0 or more, the least count is more than 0")


class Parameters(NamedTuple):
    """`emission` (V, K) P_H / P(h | c), `transfer` (R, K, K) P_L, `root` (K) a_T, `prior` (K) P(i)."""

    emission: FloatArray
    transfer: FloatArray
    root: FloatArray
    prior: FloatArray


class Counts(NamedTuple):
    """Expected counts: `heads` (V, K), `flows` (R, K, K), `roots` (K)."""

    heads: FloatArray
    flows: FloatArray
    roots: FloatArray


def head_vectors(
    forest: HeadForest, lines: Iterable[str] | None, dimensions: int, rng: np.random.Generator
) -> FloatArray:
    """(V, d) unit vectors of headwords by their contexts in lines of text, or in the trees if there is no text."""
    trees = forest.trees
    if lines is None:
        below = np.flatnonzero(trees.parent >= 0)
        head, above, relation = trees.rule[below], trees.rule[trees.parent[below]], trees.relation[below]
        arcs = relation_contexts(head, above, relation, forest.node_weights[below], len(forest.heads))
        return unit_rows(singular_vectors(arcs, dimensions, rng))
    number: dict[str, int] = {}
    of_head = [number.setdefault(name.rpartition("/")[0], len(number)) for name in forest.heads]
    return unit_rows(singular_vectors(window_contexts(lines, number), dimensions, rng)[of_head])


def first_guess(
    forest: HeadForest, vectors: FloatArray, settings: ConceptSettings, rng: np.random.Generator
) -> Parameters:
    """The parameters by clusters of headwords with these vectors (V, d)."""
    trees, k = forest.trees, settings.concepts
    centres = cluster_centres(vectors, np.sqrt(forest.used), k, rng)
    belongs = np.exp(settings.sharpness * (vectors @ centres.T))
    belongs /= belongs.sum(axis=1, keepdims=True)
    below, weights = np.flatnonzero(trees.parent >= 0), forest.node_weights
    flows = np.zeros((len(forest.relations), k, k))
    for kind in range(len(forest.relations)):
        mine = below[trees.relation[below] == kind]
        for start in range(0, len(mine), ARCS):
            nodes = mine[start : start + ARCS]
            upper = belongs[trees.rule[trees.parent[nodes]]] * weights[nodes, None]
            flows[kind] += upper.T @ belongs[trees.rule[nodes]]
    tops = trees.parent < 0
    roots = weights[tops] @ belongs[trees.rule[tops]]
    return maximised(forest, Counts(belongs * forest.used[:, None], flows, roots), settings)


def expected(forest: HeadForest, now: Parameters, progress: Callable[[int], None]) -> tuple[float, Counts]:
    """Σ weight · ln p(tree), up to a constant, and the expected counts; `progress` gets the number of trees so far."""
    trees, total = forest.trees, 0.0
    none = np.zeros((0, len(now.root)))  # posteriors are not needed
    counts = ConceptCounts(np.zeros_like(now.emission), np.zeros_like(now.transfer), np.zeros_like(now.root))
    for start in range(0, len(forest.weights), TREES_A_BLOCK):
        offsets = trees.offsets[start : start + TREES_A_BLOCK + 1]
        weights = forest.weights[start : start + TREES_A_BLOCK]
        first, nodes = offsets[0], slice(offsets[0], offsets[-1])
        parent = np.where(trees.parent[nodes] >= 0, trees.parent[nodes] - first, -1).astype(np.int32)
        block = GivenTrees(offsets - first, parent, trees.relation[nodes], trees.rule[nodes])
        logs = add_expected(block, weights, now.emission, now.transfer, now.root, counts, none)
        possible = logs > -np.inf
        total += float(weights[possible] @ logs[possible])
        progress(start + len(weights))
    return total, Counts(counts.rules, counts.flows * now.transfer, counts.roots)


def maximised(forest: HeadForest, counts: Counts, settings: ConceptSettings) -> Parameters:
    """The parameters by expected counts and pseudo-counts. A headword that is never a node says nothing of concepts."""
    of_part = np.zeros((int(forest.part.max()) + 1, settings.concepts))
    np.add.at(of_part, forest.part, counts.heads)
    totals = np.bincount(forest.part, forest.used)
    share = (forest.used / np.maximum(totals[forest.part], TINY))[:, None]  # P(h | c)
    smoothed = counts.heads + settings.head_prior * share
    p = smoothed / np.maximum(of_part[forest.part] + settings.head_prior, TINY)
    emission = np.where(share > 0, p / np.maximum(share, TINY), 1.0)
    of_child = counts.flows.sum(axis=1, keepdims=True) + TINY
    flows = counts.flows + TINY + settings.relation_prior * of_child / of_child.sum(axis=2, keepdims=True)
    prior, roots = counts.heads.sum(axis=0) + TINY, counts.roots + TINY
    return Parameters(
        emission, flows / flows.sum(axis=2, keepdims=True), roots / roots.sum(), prior / prior.sum()
    )  # fmt: skip


def train_concepts(
    treebanks: Sequence[Iterable[Tree]],
    weights: Sequence[float],
    settings: ConceptSettings,
    lines: Iterable[str] | None = None,
    report: Callable[[str], None] = lambda line: None,
    progress: Callable[[str], None] = lambda line: None,
) -> ConceptModel:
    """A model of several treebanks, each with the weight of its trees; `lines` of text have the first contexts.

    Raises FormatError where there are no trees, ConfigError where they have fewer headwords than concepts.
    """
    progress("reading trees")
    forest = head_forest(treebanks, weights, settings.headwords, settings.least, 100 * settings.least)
    if len(forest.heads) < settings.concepts:
        raise ConfigError(f"{settings.concepts} concepts of {len(forest.heads)} headwords: wanted fewer concepts")
    progress("clustering headwords by their contexts")
    rng = np.random.default_rng(settings.seed)
    now = first_guess(forest, head_vectors(forest, lines, settings.dimensions, rng), settings, rng)
    size = len(forest.weights)
    for iteration in range(1, settings.iterations + 1):
        name = f"iteration {iteration} of {settings.iterations}"
        total, counts = expected(forest, now, lambda done, name=name: progress(f"{name}: {done:,} of {size:,} trees"))  # type: ignore[misc]
        report(f"{name}: ln p of trees and headwords {total:,.0f}")
        now = maximised(forest, counts, settings)
    return ConceptModel(
        forest.heads, forest.counts, forest.used, forest.relations, coarse(now.emission),
        coarse(now.transfer), now.root, now.prior, forest.unknown_types, asdict(settings) | {"trees": size},
    )  # fmt: skip
