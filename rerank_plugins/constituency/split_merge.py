"""Split–merge training of latent states (Petrov, Barrett, Thibaux & Klein 2006).

Each round splits every state in two, runs EM, merges back the splits whose loss reduces the likelihood least, runs EM
again, and ends with EM with smoothing. States learnt on some trees can be carried over to the rewritings of more
trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, LongArray
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.latent_trees import Trees
from rerank_plugins.constituency.lexicon import Smoothing, Tagged
from rerank_plugins.constituency.treebank_grammar import Forest, Productions, grammar_of_counts

BLEND = 0.01


def widened(grammar: LatentGrammar, counts: FloatArray, forest: Forest) -> LatentGrammar:
    """Return the grammar with all rewritings of a forest, of which its own trees are a part.

    A rewriting that its trees lack gets the relative frequency in the forest, whatever the state of the parent; the
    states of its children are as frequent as in the expected `counts`, laid out as p. The others get a part of BLEND
    of the same kind, so that no tree of the forest has a probability of zero. EM then separates the states.
    """
    whole = replace(unsplit(forest), states=grammar.states)
    frequency = unsplit(forest).p
    sizes = np.diff(whole.places)
    totals = grammar.totals(counts)
    # The proportion of each state in its label; -1, no child, has the last element.
    labels = np.repeat(np.arange(len(grammar.states)), grammar.states)
    label_totals = np.bincount(labels, totals, len(grammar.states))[labels]
    shares = np.append(
        np.where(label_totals > 0, totals / np.maximum(label_totals, 1e-300), 1 / grammar.states[labels]), 1.0
    )
    values = np.repeat(frequency, sizes)
    whole = replace(whole, p=values)
    left, right = whole.child_states()
    values = values * shares[left] * shares[right]
    place = _places_of(grammar, whole)
    before = np.repeat(whole.places[place] - grammar.places[:-1], np.diff(grammar.places))
    known = np.arange(len(grammar.p)) + before
    values[known] = BLEND * values[known] + (1 - BLEND) * grammar.p
    return whole.normalised(values)


def _places_of(grammar: LatentGrammar, whole: LatentGrammar) -> LongArray:
    """Return the number in the whole of each rule of the grammar; rules of each kind are sorted in both."""
    begin, places = 0, []
    for kind in ("binary", "unary", "emission"):
        own, all_ = getattr(grammar.productions, kind), getattr(whole.productions, kind)
        base = 1 + max(int(all_.max(initial=0)), 0)
        keys = [np.zeros(len(table), np.int64) for table in (own, all_)]
        for key, table in zip(keys, (own, all_), strict=True):
            for column in table.T:
                key *= base
                key += column
        places.append(begin + np.searchsorted(keys[1], keys[0]))
        begin += len(all_)
    return np.concatenate(places)


class EmStep(NamedTuple):
    """One EM iteration: the round (from 1), its phase, and ln p of the trees before it.

    `phase` is "split", "merge", "whole" or "smooth". `log_likelihood` is Σ weight · ln p(tree), before the update of
    the parameters.
    """

    round: int
    phase: str
    iteration: int
    log_likelihood: float


@dataclass(frozen=True)
class Schedule:
    """The schedule of split–merge training."""

    rounds: int = 4  # number of rounds; a symbol has at most 2^rounds states
    # after_split, after_merge, smoothing: numbers of EM iterations in the three phases of a round
    after_split: int = 50
    after_merge: int = 20
    smoothing: int = 10
    merge: float = 0.5  # proportion of the splits that are undone
    # rule_share, emission_share: interpolation weights of the mean over states in the smoothing phase
    rule_share: float = 0.01
    emission_share: float = 0.1
    noise: float = 0.01  # relative size of the random difference between the halves of a split state
    # a probability is set to zero where it stands for an expected count below this (0: nowhere)
    negligible: float = 1e-3
    whole: int = 10  # number of EM iterations on all trees, if the splits are learnt on a part of them
    least: float = 1e-5  # rules whose probability is below this are left out of the finished grammar
    seed: int = 1  # seed of the random initialisation
    learn_on: int | None = None  # learn the splits on at most so many trees of each treebank; None: on all


def split_merge(
    forest: Forest,
    schedule: Schedule,
    report: Callable[[EmStep], None] = lambda step: None,
    part: BoolArray | None = None,
) -> tuple[LatentGrammar, FloatArray]:
    """Train a split grammar; return it with the expected counts of its rewritings in the forest.

    With `part`, a mask of trees, the splits are learnt on those trees. EM with all trees follows the merging of the
    last round, and its smoothing.
    """
    rng = np.random.default_rng(schedule.seed)
    seen = forest if part is None else forest.chosen(part)
    grammar = unsplit(seen)
    trees = Trees(seen, grammar.productions)
    for number in range(1, schedule.rounds + 1):
        grammar = grammar.split(rng, schedule.noise)
        grammar = _improved(trees, grammar, schedule, schedule.after_split, number, "split", report)
        grammar = merge_back(trees, grammar, schedule.merge)
        grammar = _improved(trees, grammar, schedule, schedule.after_merge, number, "merge", report)
        if part is not None and number == schedule.rounds:
            grammar = widened(grammar, trees.expected(grammar)[1], forest)
            trees = Trees(forest, grammar.productions)
            grammar = _improved(trees, grammar, schedule, schedule.whole, number, "whole", report)
        for iteration in range(schedule.smoothing):
            log_p, counts = trees.expected(grammar)
            report(EmStep(number, "smooth", iteration, log_p))
            grammar = grammar.normalised(counts).smoothed(schedule.rule_share, schedule.emission_share)
            grammar = grammar.without_negligible(counts, schedule.negligible)
    return grammar, trees.expected(grammar)[1]


def _improved(
    trees: Trees, grammar: LatentGrammar, schedule: Schedule, iterations: int, number: int, phase: str,
    report: Callable[[EmStep], None],
) -> LatentGrammar:  # fmt: skip
    """Run EM iterations; each reports the likelihood before its update."""
    for iteration in range(iterations):
        log_p, counts = trees.expected(grammar)
        report(EmStep(number, phase, iteration, log_p))
        grammar = grammar.normalised(counts).without_negligible(counts, schedule.negligible)
    return grammar


def merge_back(trees: Trees, grammar: LatentGrammar, share: float) -> LatentGrammar:
    """Undo this part of the splits: those that lower the likelihood least. All states but ROOT's come in pairs."""
    _, counts = trees.expected(grammar)
    total = grammar.totals(counts)
    first = np.concatenate([grammar.firsts[label] + np.arange(0, k - 1, 2) for label, k in enumerate(grammar.states)])
    first = first.astype(np.int64)
    pair = np.maximum(total[first] + total[first + 1], 1e-300)
    shares = np.ones(len(total))
    shares[first], shares[first + 1] = total[first] / pair, total[first + 1] / pair
    # The loss of each merge, judged by itself; the smallest losses are accepted.
    losses = trees.merge_losses(grammar, shares)[first]
    together = np.zeros(len(total), np.bool_)
    together[first[np.argsort(losses, kind="stable")[: int(share * len(first))]]] = True
    return grammar.merged(together, shares)


def finished(
    forest: Forest, latent: LatentGrammar, counts: FloatArray, least: float, smoothing: Smoothing | None = None,
    settings: Mapping[str, Any] | None = None, tagged: Tagged | None = None,
) -> Grammar:  # fmt: skip
    """Convert a latent grammar to a `Grammar`: one symbol per state, rules below `least` left out, lexicon smoothed.

    `counts` are expected counts, from which the count of each state is taken; `tagged` words are added to the lexicon.
    Symbols of a label with several states are named LABEL^number.
    """
    owner = latent.owner
    weight = latent.totals(counts)
    value = latent.p * weight[owner]
    left, right = latent.child_states()
    place = np.repeat(np.arange(len(latent.parent)), np.diff(latent.places))
    binary, unary = len(latent.productions.binary), len(latent.productions.binary) + len(latent.productions.unary)
    rules = place < binary
    chains, emits = ~rules & (place < unary), place >= unary
    large = latent.p >= least
    words = np.concatenate([np.zeros(unary, np.int32), latent.productions.emission[:, 1]])[place]
    emits &= value > 1e-6  # an expected count that EM has practically reduced to zero
    rewritings = Productions(
        np.stack([owner, left, right], axis=1)[rules & large].astype(np.int32), value[rules & large],
        np.stack([owner, left], axis=1)[chains & large].astype(np.int32), value[chains & large],
        np.stack([owner, words], axis=1)[emits].astype(np.int32), value[emits], np.zeros(0, np.int32),
    )  # fmt: skip
    states = zip(forest.labels, latent.states.tolist(), strict=True)
    names = [f"{label}^{i}" if k > 1 else label for label, k in states for i in range(k)]
    base = np.repeat(np.arange(len(forest.labels), dtype=np.int32), latent.states)
    return grammar_of_counts(
        tuple(names), forest.labels, base, forest.words, rewritings, smoothing or Smoothing(), settings or {}, tagged
    )
