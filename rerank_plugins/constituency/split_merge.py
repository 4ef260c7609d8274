"""Split–merge training of latent states (Petrov, Barrett, Thibaux & Klein 2006).

Each round splits every state in two, runs EM, merges back the splits whose loss reduces the likelihood least, runs EM
again, and ends with EM with smoothing. States learnt on some trees can be carried over to the rewritings of more
trees. The E-step is in expected_counts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray
from rerank_plugins.constituency.expected_counts import Trees
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.lexicon import Smoothing, Tagged
from rerank_plugins.constituency.marked_states import Marks, with_marks, without_rare
from rerank_plugins.constituency.treebank_grammar import EncodedTrees, Productions, grammar_of_counts, rule_numbers

BLEND = 0.01  # the part of a known rewriting's probability that comes from its relative frequency in the forest


def widened(grammar: LatentGrammar, counts: FloatArray, forest: EncodedTrees) -> LatentGrammar:
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
    proportions = np.append(
        np.where(label_totals > 0, totals / np.maximum(label_totals, 1e-300), 1 / grammar.states[labels]), 1.0
    )
    values = np.repeat(frequency, sizes)
    whole = replace(whole, p=values)
    left, right = whole.child_states()
    values = values * proportions[left] * proportions[right]
    place = rule_numbers(whole.productions, grammar.productions)
    before = np.repeat(whole.places[place] - grammar.places[:-1], np.diff(grammar.places))
    known = np.arange(len(grammar.p)) + before
    values[known] = BLEND * values[known] + (1 - BLEND) * grammar.p
    return whole.normalised(values)


class EmStep(NamedTuple):
    """One EM iteration: the round (from 1), its phase, and ln p of the trees before it.

    `phase` is "split", "merge", "whole", "marked" or "smooth". `log_likelihood` is Σ weight · ln p(tree), before the
    update of the parameters.
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
    # rule_smoothing, emission_smoothing: interpolation weights of the mean over states in the smoothing phase
    rule_smoothing: float = 0.01
    emission_smoothing: float = 0.1
    noise: float = 0.01  # relative size of the random difference between the halves of a split state
    # a probability is set to zero where it stands for an expected count below this (0: nowhere)
    negligible: float = 1e-3
    marked: int = 10  # number of EM iterations on trees with marks, which begin with the states of the plain trees
    prior: float = 20.0  # κ, the weight of the plain grammar in that of the marked trees (marked_states.py)
    combined: float = 1.0  # λ, the part that is added of what combinations of marks lack
    # states of labels with marks that occur less often are made one, and rules whose expected count is below a
    # thousandth of it are left out of the finished grammar
    rare: float = 200.0
    whole: int = 10  # number of EM iterations on all trees, if the splits are learnt on a part of them
    least: float = 1e-5  # rules whose probability is below this are left out of the finished grammar
    seed: int = 1  # seed of the random initialisation
    learn_on: int | None = None  # learn the splits on at most so many trees of each treebank; None: on all


def split_merge(
    forest: EncodedTrees,
    schedule: Schedule,
    report: Callable[[EmStep], None] = lambda step: None,
    part: BoolArray | None = None,
    marks: Marks | None = None,
) -> tuple[LatentGrammar, FloatArray]:
    """Train a split grammar; return it with the expected counts of its rewritings in the forest.

    With `part`, a mask of trees, the splits are learnt on those trees. EM with all trees follows the merging of the
    last round, and its smoothing. With `marks`, the states are learnt on labels without marks, and EM with marked ones
    follows before the last smoothing (marked_states.py).
    """
    rng = np.random.default_rng(schedule.seed)
    marked, added = forest, np.zeros(1)
    if marks is not None:
        forest = forest.renamed([marks.plain(label) for label in forest.labels])
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
        if marks is not None and number == schedule.rounds:
            counts = trees.expected(grammar)[1]
            grammar, prior = with_marks(grammar, counts, forest, marked, marks, schedule.prior, schedule.combined)
            trees = Trees(marked, grammar.productions)
            grammar = _improved(trees, grammar, schedule, schedule.marked, number, "marked", report, prior.counts)
            grammar, prior = without_rare(grammar, prior, trees.expected(grammar)[1], schedule.rare)
            added = prior.counts
        for iteration in range(schedule.smoothing):
            log_p, counts = trees.expected(grammar)
            report(EmStep(number, "smooth", iteration, log_p))
            grammar = grammar.normalised(counts + added).smoothed(schedule.rule_smoothing, schedule.emission_smoothing)
            grammar = grammar.without_negligible(counts, schedule.negligible)
    return grammar, trees.expected(grammar)[1]


def _improved(
    trees: Trees, grammar: LatentGrammar, schedule: Schedule, iterations: int, number: int, phase: str,
    report: Callable[[EmStep], None], added: FloatArray | float = 0.0,
) -> LatentGrammar:  # fmt: skip
    """Run EM iterations; each reports the likelihood before its update. `added` counts are laid out as p."""
    for iteration in range(iterations):
        log_p, counts = trees.expected(grammar)
        report(EmStep(number, phase, iteration, log_p))
        grammar = grammar.normalised(counts + added).without_negligible(counts + added, schedule.negligible)
    return grammar


def merge_back(trees: Trees, grammar: LatentGrammar, proportion: float) -> LatentGrammar:
    """Undo this part of the splits: those that lower the likelihood least. All states but ROOT's come in pairs."""
    _, counts = trees.expected(grammar)
    total = grammar.totals(counts)
    first = np.concatenate([grammar.firsts[label] + np.arange(0, k - 1, 2) for label, k in enumerate(grammar.states)])
    first = first.astype(np.int64)
    pair = np.maximum(total[first] + total[first + 1], 1e-300)
    proportions = np.ones(len(total))
    proportions[first], proportions[first + 1] = total[first] / pair, total[first + 1] / pair
    # The loss of each merge, judged by itself; the smallest losses are accepted.
    losses = trees.merge_losses(grammar, proportions)[first]
    together = np.zeros(len(total), np.bool_)
    together[first[np.argsort(losses, kind="stable")[: int(proportion * len(first))]]] = True
    return grammar.merged(together, proportions)


def finished(
    forest: EncodedTrees, latent: LatentGrammar, counts: FloatArray, least: float, smoothing: Smoothing | None = None,
    settings: Mapping[str, Any] | None = None, tagged: Tagged | None = None, fewest: float = 0.0,
) -> Grammar:  # fmt: skip
    """Convert a latent grammar to a `Grammar`: one symbol per state, rules below `least` left out, lexicon smoothed.

    So are rules whose expected count is below `fewest`, and rules with a symbol that then never yields words.

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
    large = (latent.p >= least) & (value >= fewest)
    words = np.concatenate([np.zeros(unary, np.int32), latent.productions.emission[:, 1]])[place]
    emits &= value > 1e-6  # an expected count that EM has practically reduced to zero
    large &= place < unary
    yields = np.zeros(len(weight) + 1, np.bool_)  # that of no child, -1, is the last one
    yields[owner[emits]] = yields[-1] = True
    while not yields[owner[fitting := large & yields[left] & yields[right]]].all():
        yields[owner[fitting]] = True
    large &= yields[left] & yields[right]
    rewritings = Productions(
        np.stack([owner, left, right], axis=1)[rules & large].astype(np.int32), value[rules & large],
        np.stack([owner, left], axis=1)[chains & large].astype(np.int32), value[chains & large],
        np.stack([owner, words], axis=1)[emits].astype(np.int32), value[emits], np.zeros(0, np.int32),
    )  # fmt: skip
    states = zip(forest.labels, latent.states.tolist(), strict=True)
    names = [f"{label}^{i}" if k > 1 else label for label, k in states for i in range(k)]
    base = np.repeat(np.arange(len(forest.labels), dtype=np.int32), latent.states)
    return grammar_of_counts(
        tuple(names), forest.labels, base, forest, rewritings, smoothing or Smoothing(), settings or {}, tagged
    )
