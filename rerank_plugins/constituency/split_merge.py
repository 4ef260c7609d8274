"""Split–merge training of latent states (Petrov, Barrett, Thibaux & Klein 2006).

Each round splits every state in two, runs EM, merges back the splits whose loss reduces the likelihood least, runs EM
again, and ends with EM with smoothing. States learnt on some trees can be carried over to the rewritings of more
trees.

The E-step of latent states on the trees of a forest, part by part on all cores, with equal subtrees as one node.

Equal subtrees have equal inside probabilities, and both outside probabilities and expected counts are sums over their
occurrences. Most words, and a third of the phrases, occur several times in some ten thousand trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray, in_threads
from rerank_plugins.constituency import latent_kernels as kernels
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.constituency.lexicon import Smoothing, Tagged
from rerank_plugins.constituency.marked_states import Marks, with_marks, without_rare
from rerank_plugins.constituency.treebank_grammar import Forest, Productions, grammar_of_counts, rule_numbers
from rerank_plugins.core.threads import cores

NODES = 1 << 20  # of a part of a forest; its vectors take 16 bytes per distinct node and state
Passes = tuple[LongArray, FloatArray, FloatArray, FloatArray, FloatArray]


class Subtrees(NamedTuple):
    """N nodes by height, and within a height by rule; children come before their parents."""

    rule: IntArray  # (N) the rule of each node
    left: IntArray  # (N) int32 the first child, -1 in a preterminal
    right: IntArray  # (N) int32 the second child, -1 in a preterminal and where there is one child
    runs: LongArray  # (runs + 1) where each run of nodes of the same height and rule begins
    weights: FloatArray  # (N) the sum of the weights of the trees in which the node occurs, for each occurrence
    roots: LongArray  # the nodes that are roots, and `root_weights` the sum of the weights of their trees
    root_weights: FloatArray


def parts(forest: Forest, size: int | None = None) -> Iterator[tuple[int, int]]:
    """Cut a forest into parts of about `size` nodes: yield the first tree of each and the one after its last."""
    first, last, size = 0, len(forest.weights), size or NODES
    while first < last:
        end = int(np.searchsorted(forest.offsets, forest.offsets[first] + size))
        end = min(max(end, first + 1), last)
        yield first, end
        first = end


def subtrees(forest: Forest, rule: IntArray, first: int, end: int, *, shared: bool = True) -> Subtrees:
    """Lay out the trees from `first` to `end`; `rule` is the rule of each node of the forest.

    With `shared`, equal subtrees become one node. Otherwise every node remains.
    """
    begin = int(forest.offsets[first])
    span = slice(begin, int(forest.offsets[end]))
    rule, height = rule[span], np.zeros(span.stop - begin, np.int32)
    left, right = (np.where(child[span] >= 0, child[span] - begin, -1) for child in (forest.left, forest.right))
    kernels.heights(left, right, height)
    order = np.lexsort((rule, height))
    number = np.full(len(rule) + 1, -1, np.int32)  # the place of each node in the result; that of node -1 is -1
    if shared:
        kept, ends = [], np.searchsorted(height[order], np.arange(height.max(initial=0) + 2))
        total = 0
        for start, stop in pairwise(ends.tolist()):
            level = order[start:stop]
            children = number[left[level]].astype(np.int64) << 32 | number[right[level]] + 1
            by_children = np.lexsort((children, rule[level]))
            level, children = level[by_children], children[by_children]
            new = np.append(True, (rule[level[1:]] != rule[level[:-1]]) | (children[1:] != children[:-1]))
            number[level] = total + np.cumsum(new) - 1
            total += int(new.sum())
            kept.append(level[new])
        order = np.concatenate(kept)
    else:
        number[order] = np.arange(len(order))
    tree_weights = forest.weights[first:end]
    weights = np.repeat(tree_weights, np.diff(forest.offsets[first : end + 1]))
    roots, root = np.unique(number[forest.offsets[first + 1 : end + 1] - 1 - begin], return_inverse=True)
    steps = (np.diff(rule[order]) != 0) | (np.diff(height[order]) != 0)
    return Subtrees(
        np.ascontiguousarray(rule[order], np.int32), number[left[order]], number[right[order]],
        np.concatenate(([0], np.flatnonzero(steps) + 1, [len(order)])).astype(np.int64),
        np.bincount(number[:-1], weights, len(order)).astype(np.float64), roots.astype(np.int64),
        np.bincount(root, tree_weights, len(roots)).astype(np.float64),
    )  # fmt: skip


class Entries(NamedTuple):
    """The probabilities above zero: those of rule r are first[r] to first[r + 1], by states of parent and children.

    `place` is where each is in the grammar's p; `widths` (R, 3) has the numbers of states of each rule's labels.
    """

    first: LongArray
    parent: IntArray
    left: IntArray
    right: IntArray
    value: FloatArray
    place: LongArray
    widths: LongArray


def entries(grammar: LatentGrammar) -> Entries:
    """List the probabilities of a grammar that are above zero."""
    place = np.flatnonzero(grammar.p)
    first = np.searchsorted(place, grammar.places)
    widths = np.where(grammar.children >= 0, grammar.states[grammar.children], 1)
    sizes = np.diff(first)
    within = place - np.repeat(grammar.places[:-1], sizes)
    parent, both = np.divmod(within, np.repeat(grammar.columns, sizes))
    left, right = np.divmod(both, np.repeat(widths[:, 1], sizes))
    return Entries(
        first, parent.astype(np.int32), left.astype(np.int32), right.astype(np.int32), grammar.p[place], place,
        np.column_stack([grammar.rows, widths]).astype(np.int64),
    )  # fmt: skip


class Trees:
    """A forest laid out for the kernels. Results do not depend on the number of cores, among which parts are divided.

    `rule` is the rule of each node of the forest: binary rules first, then unary rules, then emissions.
    """

    def __init__(self, forest: Forest, productions: Productions) -> None:
        start = np.where(forest.word >= 0, len(productions.binary) + len(productions.unary), len(productions.binary))
        start[forest.right >= 0] = 0
        self.rule = (productions.rule + start).astype(np.int32)
        self._forest = forest
        self._parts = [subtrees(forest, self.rule, *part) for part in parts(forest)]

    def expected(self, grammar: LatentGrammar) -> tuple[float, FloatArray]:
        """Return Σ weight · ln p(tree), and the expected counts, laid out as `grammar.p` (the E-step)."""
        listed, jobs = entries(grammar), cores()
        log_p, counts = 0.0, np.zeros(len(listed.value))
        for begin in range(0, len(self._parts), jobs):
            tasks = [(part, grammar, listed) for part in self._parts[begin : begin + jobs]]
            for value, found in in_threads(_expected, tasks, jobs):
                log_p += value
                counts += found
        laid_out = np.zeros_like(grammar.p)
        laid_out[listed.place] = counts * listed.value
        return log_p, laid_out

    def merge_losses(self, grammar: LatentGrammar, proportions: FloatArray) -> FloatArray:
        """Return (all states) the loss in ln p of merging each even state with the next; 0 for odd states.

        The losses are no sums over the occurrences of a subtree, so every node is looked at.
        """
        listed, losses = entries(grammar), np.zeros(grammar.firsts[-1])
        for part in parts(self._forest):
            nodes = subtrees(self._forest, self.rule, *part, shared=False)
            at, inside, _, outside, _ = _passes(nodes, grammar, listed)
            known = grammar.firsts, proportions, losses
            label = grammar.parent[nodes.rule]
            kernels.merge_losses(label, grammar.states, nodes.weights, at, inside, outside, *known)
        return losses


def _passes(nodes: Subtrees, grammar: LatentGrammar, listed: Entries) -> Passes:
    """Return where each vector begins, inside vectors, scales, outside vectors, and expected counts divided by p."""
    ends = np.cumsum(grammar.rows[nodes.rule], dtype=np.int64)
    at = np.concatenate(([0], ends[:-1]))
    inside, scale, outside = np.empty(ends[-1]), np.empty(len(at)), np.zeros(ends[-1])
    outside[at[nodes.roots]] = nodes.root_weights  # a root has one state, its inside value is 1
    counts = np.zeros(len(listed.value))
    known = nodes.runs, (nodes.rule, nodes.left, nodes.right), listed.widths, at, listed[:5], inside, scale
    kernels.fill_inside(*known)
    kernels.fill_outside(*known, outside, counts)
    return at, inside, scale, outside, counts


def _expected(nodes: Subtrees, grammar: LatentGrammar, listed: Entries) -> tuple[float, FloatArray]:
    """Return Σ weight · ln p(tree) of one part, and its expected counts divided by p."""
    _, _, scale, _, counts = _passes(nodes, grammar, listed)
    with np.errstate(divide="ignore"):
        return float(nodes.weights @ np.log(scale)), counts


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
    forest: Forest,
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
    forest: Forest, latent: LatentGrammar, counts: FloatArray, least: float, smoothing: Smoothing | None = None,
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
