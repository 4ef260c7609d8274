"""Relational clusters by EM over observed trees (Wu & Schuler 2011, §3.1, eqs 9-11); only concepts are hidden.

With the inside vectors e and outside vectors o of tree_posteriors.py and the probability P of the tree, the expectation
that eq. 9 of the paper abbreviates is

    E(i_γ, i_α, i_β) = o_γ[i_γ] · P_M(lci_γ → lc_α lc_β) · P_L(i_α|i_γ, l_α) e_α[i_α] · P_L(i_β|i_γ, l_β) e_β[i_β] / P

The M-step normalises its sums (eq. 10). Pseudo-counts κ draw P_M and P_H of each concept towards their known values
over all concepts, P_M(r | lci) = (E(r, i) + κ P_M(r | lc)) / (E(lc, i) + κ): EM for the likelihood times a Dirichlet
prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rerank_plugins import ConfigError, FloatArray, ModelError
from rerank_plugins.svs.observed_trees import Observed, Rewritings
from rerank_plugins.svs.tree_posteriors import ConceptCounts, add_expected

FALL = 1e-9  # tolerance: the fraction of the objective (or, near 0, the amount) by which rounding may lower it


@dataclass(frozen=True)
class Clustering:
    """How EM finds the concepts; the defaults are the best values on a treebank of 130,000 words."""

    concepts: int = 10  # K
    iterations: int = 20  # number of EM iterations
    restarts: int = 10  # number of random initialisations; the result with the greatest objective is kept
    seed: int = 1  # seed of the random initialisations
    noise: float = 1.0  # standard deviation of the initial ln P about its value without concepts
    # rule_prior, head_prior: pseudo-counts κ of P_M and of P_H
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
    """An iteration of EM; restarts and iterations count from 1.

    `log_likelihood` is Σ weight · ln p(tree, headwords) before the iteration's update; `objective`, which EM maximises,
    adds the ln of the prior.
    """

    restart: int
    iteration: int
    log_likelihood: float
    objective: float


def initial_parameters(observed: Observed, settings: Clustering, rng: np.random.Generator) -> Parameters:
    """Parameters that vary at random about those of a model without concepts."""
    k, rewritings = settings.concepts, observed.rewritings
    noise = np.exp(settings.noise * rng.standard_normal((len(rewritings.p), k)))
    p = rewritings.p[:, None] * noise / noise.mean(axis=1, keepdims=True)
    transfer = np.exp(settings.noise * rng.standard_normal((len(observed.relations), k, k)))
    transfer /= transfer.sum(axis=2, keepdims=True)
    root = np.exp(settings.noise * rng.standard_normal(k))
    return Parameters(p / per_symbol(p, rewritings)[rewritings.parent], transfer, root / root.sum())


def per_symbol(values: FloatArray, rewritings: Rewritings) -> FloatArray:
    """(S, K) the sums of the values (rules, K) over the rewritings of each symbol."""
    totals = np.zeros((int(rewritings.parent.max()) + 1, values.shape[1]))
    np.add.at(totals, rewritings.parent, values)
    return totals


def expected(observed: Observed, now: Parameters, posteriors: bool = False) -> Expected:
    """The E-step: expected counts under the parameters, and ln p of the trees and headword classes."""
    counts = ConceptCounts(*(np.zeros_like(values) for values in now))
    weights = observed.forest.weights
    posterior = np.empty((len(observed.forest.label) if posteriors else 0, len(now.root)))
    logs = add_expected(observed.given_trees, weights, *now, counts, posterior)
    total = float((weights * logs).sum())
    return Expected(total, counts.rules, counts.flows * now.transfer, counts.roots, posterior)


def maximised(observed: Observed, expectation: Expected, settings: Clustering) -> Parameters:
    """The M-step (eq. 10). Rewritings never expected keep their p without concepts; transfers become uniform."""
    rules = observed.rewritings
    prior = pseudo_counts(rules, settings)
    counts = expectation.counts + (prior * rules.p)[:, None]
    totals = per_symbol(counts, rules)[rules.parent]
    with np.errstate(invalid="ignore", divide="ignore"):
        p = np.where(totals > 0, counts / totals, rules.p[:, None])
        sums = expectation.flows.sum(axis=2, keepdims=True)
        transfer = np.where(sums > 0, expectation.flows / sums, 1 / settings.concepts)
    return Parameters(p, transfer, expectation.roots / expectation.roots.sum())


def pseudo_counts(rules: Rewritings, settings: Clustering) -> FloatArray:
    """(rules) the pseudo-count κ of each rewriting: `rule_prior` for a rule, `head_prior` for a headword."""
    phrases = len(rules.binary) + len(rules.unary)
    return np.where(np.arange(len(rules.p)) < phrases, settings.rule_prior, settings.head_prior)


def log_prior(observed: Observed, now: Parameters, settings: Clustering) -> float:
    """The logarithm of the Dirichlet prior, up to a constant."""
    rules = observed.rewritings
    weights = pseudo_counts(rules, settings) * rules.p
    weighed = weights > 0
    return float(weights[weighed] @ np.log(now.p[weighed]).sum(axis=1))


def cluster(
    observed: Observed, settings: Clustering, report: Callable[[EmStep], None] = lambda step: None
) -> tuple[Parameters, Expected]:
    """The parameters of the restart with the greatest objective, and the expected counts under them.

    Raises ModelError if an iteration lowers the objective, which would be an error in this module.
    """
    best: tuple[float, Parameters, Expected] | None = None
    for restart, rng in enumerate(np.random.default_rng(settings.seed).spawn(settings.runs), 1):
        parameters, before = initial_parameters(observed, settings, rng), -np.inf
        for iteration in range(1, settings.iterations + 2):
            expectation = expected(observed, parameters, posteriors=iteration > settings.iterations)
            objective = expectation.log_likelihood + log_prior(observed, parameters, settings)
            report(EmStep(restart, iteration, expectation.log_likelihood, objective))
            if objective < before - FALL * max(1.0, abs(before)) or np.isnan(objective):
                raise ModelError(f"EM went wrong: from {before} to {objective} in iteration {iteration}")
            before = objective
            if iteration <= settings.iterations:
                parameters = maximised(observed, expectation, settings)
        if best is None or before > best[0]:
            best = before, parameters, expectation
    assert best is not None
    return best[1:]
