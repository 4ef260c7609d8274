"""Relational clusters by EM over observed trees (Wu & Schuler 2011, §3.1, eqs 9-11).

Hidden is the concept of each node. The E-step is inside-outside over the tree that is there (kernels.py). With e and o
the inside and outside vectors and P the probability of the tree, the expectation that the paper's eq. 9 shortens is

    E(i_γ, i_α, i_β) = o_γ[i_γ] · P_M(lci_γ → lc_α lc_β) · P_L(i_α|i_γ, l_α) e_α[i_α] · P_L(i_β|i_γ, l_β) e_β[i_β] / P

summed over the places where the rule is used; the M-step normalises its sums (eq. 10). With pseudo-counts the M-step
draws P_M and P_H of each concept to those of all concepts together, which are known, for trees and headwords are:

    P_M(r | lci) = (E(r, i) + κ P_M(r | lc)) / (E(lc, i) + κ)

That is EM for the likelihood times a Dirichlet prior; κ = 0 is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import ConfigError, ModelError
from rerank_plugins.models.svs import kernels
from rerank_plugins.models.svs.observed import Observed, Rewritings

FALL = 1e-9  # share of the objective (or, near 0, amount) by which rounding may lower it


@dataclass(frozen=True)
class Clustering:
    """How concepts are found; the defaults are what is best on a treebank of 130,000 words.

    `concepts`    K
    `iterations`  of EM
    `restarts`    number of random initialisations; the result with the greatest objective is kept
    `seed`        of the random initialisations
    `noise`       standard deviation of the initial ln P about its value without concepts
    `rule_prior`, `head_prior`  pseudo-counts κ of P_M and of P_H
    """

    concepts: int = 10
    iterations: int = 20
    restarts: int = 10
    seed: int = 1
    noise: float = 1.0
    rule_prior: float = 50.0
    head_prior: float = 0.0

    def __post_init__(self) -> None:
        if self.concepts < 1 or self.iterations < 0 or self.restarts < 1:
            raise ConfigError("concepts and restarts are 1 or more, iterations 0 or more")
        if min(self.noise, self.rule_prior, self.head_prior) < 0:
            raise ConfigError("noise and pseudo-counts are 0 or more")

    @property
    def runs(self) -> int:
        """The number of runs of EM: a model of one concept needs no restarts."""
        return self.restarts if self.concepts > 1 else 1


class Parameters(NamedTuple):
    """`p` (rules, K) P_M and P_H of all rewritings; `transfer` (R, K, K) P_L; `root` (K)."""

    p: FloatArray
    transfer: FloatArray
    root: FloatArray


class Expected(NamedTuple):
    """Expected counts: `counts` of `p`, `flows` of `transfer`, `roots`; `posterior` (N, K) of each node's concepts."""

    log_likelihood: float
    counts: FloatArray
    flows: FloatArray
    roots: FloatArray
    posterior: FloatArray


class EmStep(NamedTuple):
    """One iteration, from 1: Σ weight · ln p(tree, headwords) before its update, and what EM maximises (+ ln prior)."""

    restart: int
    iteration: int
    log_likelihood: float
    objective: float


def initial_parameters(observed: Observed, settings: Clustering, rng: np.random.Generator) -> Parameters:
    """Random parameters about those without concepts."""
    k, found = settings.concepts, observed.rewritings
    noise = np.exp(settings.noise * rng.standard_normal((len(found.p), k)))
    p = found.p[:, None] * noise / noise.mean(axis=1, keepdims=True)
    transfer = np.exp(settings.noise * rng.standard_normal((len(observed.relations), k, k)))
    transfer /= transfer.sum(axis=2, keepdims=True)
    root = np.exp(settings.noise * rng.standard_normal(k))
    return Parameters(p / per_symbol(p, found)[found.parent], transfer, root / root.sum())


def per_symbol(values: FloatArray, found: Rewritings) -> FloatArray:
    """(S, K) Σ of the values (rules, K) of each symbol's rewritings."""
    totals = np.zeros((int(found.parent.max()) + 1, values.shape[1]))
    np.add.at(totals, found.parent, values)
    return totals


def expected(observed: Observed, now: Parameters, posteriors: bool = False) -> Expected:
    """The E-step. ln p is of trees and headword classes."""
    forest, found = observed.forest, observed.rewritings
    k = len(now.root)
    counts, flows, roots = np.zeros_like(now.p), np.zeros_like(now.transfer), np.zeros(k)
    posterior = np.empty((len(forest.label) if posteriors else 0, k))
    nodes = forest.left, forest.right, found.rule, observed.relation[forest.label]
    sums = counts, flows, roots, posterior
    total = kernels.expect(forest.offsets, forest.weights, *nodes, *now, *sums)
    return Expected(float(total), counts, flows * now.transfer, roots, posterior)


def maximised(observed: Observed, found: Expected, settings: Clustering) -> Parameters:
    """The M-step (eq. 10). What was never expected is as without concepts, its transfers even."""
    rules = observed.rewritings
    prior = pseudo_counts(rules, settings)
    counts = found.counts + (prior * rules.p)[:, None]
    totals = per_symbol(counts, rules)[rules.parent]
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(totals > 0, counts / totals, rules.p[:, None])
        sums = found.flows.sum(axis=2, keepdims=True)
        transfer = np.where(sums > 0, found.flows / sums, 1 / settings.concepts)
    return Parameters(p, transfer, found.roots / found.roots.sum())


def pseudo_counts(rules: Rewritings, settings: Clustering) -> FloatArray:
    """(rules) κ of the symbol that each rewriting is of."""
    phrases = len(rules.binary) + len(rules.unary)
    return np.where(np.arange(len(rules.p)) < phrases, settings.rule_prior, settings.head_prior)


def log_prior(observed: Observed, now: Parameters, settings: Clustering) -> float:
    """The logarithm of the Dirichlet prior, less a constant."""
    rules = observed.rewritings
    weights = pseudo_counts(rules, settings) * rules.p
    weighed = weights > 0
    return float(weights[weighed] @ np.log(now.p[weighed]).sum(axis=1))


def cluster(
    observed: Observed, settings: Clustering, report: Callable[[EmStep], None] = lambda step: None
) -> tuple[Parameters, Expected]:
    """The parameters found by EM, of the best of all restarts, and the expected counts under them.

    Raises ModelError where an iteration lowers what EM maximises: that would be a fault of the program.
    """
    best: tuple[float, Parameters, Expected] | None = None
    for restart, rng in enumerate(np.random.default_rng(settings.seed).spawn(settings.runs), 1):
        now, before = initial_parameters(observed, settings, rng), -np.inf
        for iteration in range(1, settings.iterations + 2):
            found = expected(observed, now, posteriors=iteration > settings.iterations)
            objective = found.log_likelihood + log_prior(observed, now, settings)
            report(EmStep(restart, iteration, found.log_likelihood, objective))
            if objective < before - FALL * max(1.0, abs(before)) or np.isnan(objective):
                raise ModelError(f"EM went wrong: from {before} to {objective} in iteration {iteration}")
            before = objective
            if iteration <= settings.iterations:
                now = maximised(observed, found, settings)
        if best is None or before > best[0]:
            best = before, now, found
    assert best is not None
    return best[1:]
