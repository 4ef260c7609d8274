"""Estimates the probabilities of events from counts, interpolated with less context (Wu et al. 2010, eqs 13 and 14).

Each distribution is interpolated with one of less context by the method of Witten & Bell (1991). For a context h in
which n(h) events of T(h) types were seen:

    P(e | h) = (n(h, e) + κ T(h) P(e | h')) / (n(h) + κ T(h))

    reduction   P_F(kind | d, a, b, q)                  ->  d, b, q  ->  P0
    transition  P_ILT(c | d, a, b, q), P_ILE(q' c | d, a, b, q)      ->  d, b, q  ->  P0
    expansion   P_CLE(x | d, a, b)                      ->  d, b     ->  P0

P0 is the expectation of the grammar of the same trees at that depth (Schwartz et al. 2011, equations 16-24): it pools
all depths, does not depend on the active symbol, excludes whatever cannot end within the store, and sums to one; so
does every mixture. With κ = 0, seen contexts have relative frequencies. At depth 0 there is only one active symbol, and
therefore one level of back-off less.

In the code, contexts with the active symbol a are called narrow, those without it wide.

In the arrays of `Counted`, which are looked up by context, a reduction in a context h has the probability

    P(event | h) = backoff(h, kind) · P0(event | d, b, q) + extra(h, event)

and the preterminals x down the left edge of an awaited symbol have theirs in a row of `openings`. A context that was
never seen has no row: P0 is used. A model without events has no rows at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray, ModelError
from rerank_plugins.constituency.grammar import ROOT, Grammar
from rerank_plugins.hhmm.event_counts import CROSS, END, HERE, WITHIN, Events
from rerank_plugins.hhmm.left_progeny import LeftProgeny, rule_sums
from rerank_plugins.kit.kernels import part, place_of


class Counted(NamedTuple):
    """Rows of contexts with counts, including the wider contexts in which the active symbol is left open.

    `contexts` (M) keys of reduction contexts, ascending (`context_key`)
    `backoff`  (M, 2) the weight of P0, by kind of reduction
    `starts`   (2 M + 1) the events of context m and kind k are the entries starts[2 m + k] to starts[2 m + k + 1] of
               `rule` and `extra`
    `rule`     the rules of the events, numbered in the order of Rules
    `extra`    what the counts add to P0, divided by the probability that the new awaited symbol fits in the store
    `edges`    (K) keys of expansion contexts, ascending (`context_key`)
    `openings` (K, S + 1) by preterminal x: P(x | d, a, b) R_d(b) / Σ_w P(w | x), which for P0 is E*_d[b, x]; the last
               column is a factor for the probability that b itself reads the word
    `opens`    (D + 1, B) the row of `openings` for the new element q'/c of each rule at depth d, -1 if there is none
    """

    contexts: Any
    backoff: FloatArray
    starts: IntArray
    rule: IntArray
    extra: FloatArray
    edges: Any
    openings: FloatArray
    opens: IntArray


def nothing_counted(symbols: int, rules: int, depth: int) -> Counted:
    """Return tables without rows: the probabilities of the grammar alone."""
    values, numbers, keys = np.zeros(0), np.zeros(0, np.int32), np.zeros(0, np.int64)
    return Counted(
        keys, np.zeros((0, 2)), np.zeros(1, np.int32), numbers, values, keys, np.zeros((0, symbols + 1)),
        np.full((depth + 1, rules), -1, np.int32),
    )  # fmt: skip


@part
def context_key(size: int, d: int, a: int, b: int, q: int) -> Any:
    """Return ((d (S + 1) + a) S + b) S + q, the key of a reduction's context; a = S leaves a open.

    With q = 0, it is the key of an expansion below an element a/b at depth d.
    """
    return ((d * (size + 1) + a) * size + b) * size + q


@part
def row_of(keys: LongArray, size: int, d: int, a: int, b: int, q: int) -> int:
    """Return the row of a context in the ascending keys, else of the one with a left open; -1 if neither was seen."""
    active = a
    while True:
        row = place_of(keys, 0, len(keys), context_key(size, d, active, b, q))
        if row >= 0:
            return row
        if active == size:
            return -1
        active = size


Keys = LongArray


def interpolated(
    events: Events, grammar: Grammar, left_progeny: LeftProgeny, order: LongArray
) -> tuple[Counted, FloatArray]:
    """Return the rows of all contexts with counts, and (S) P(end | 0, ROOT, q).

    `order` (B) lists the grammar's rule numbers in the order of the tables. Raises ModelError for an event to which the
    grammar gives no probability: the search divides by it.
    """
    _check_possible(events, grammar, left_progeny)
    with np.errstate(divide="ignore", invalid="ignore"):
        ending = np.nan_to_num(left_progeny.closure[ROOT] / left_progeny.expected[0, ROOT], posinf=0.0)
    rows = _reductions(events, grammar, left_progeny, order, ending)
    edges, openings = _expansions(events, grammar, left_progeny)
    return Counted(*rows, edges, openings, _opened_by_rules(edges, grammar, order, events.depth)), ending


def _check_possible(events: Events, grammar: Grammar, left_progeny: LeftProgeny) -> None:
    """Raise ModelError for an event that cannot be by the grammar."""
    closure, expected, fitting = left_progeny.closure, left_progeny.expected, left_progeny.fitting
    # Reductions: q is completed below b, and then the sentence ends, or q is the left child of a rule.
    d, _, b, q, kind, rule = events.reductions.astype(np.int64).T
    completed = expected[d, b, q] > 0
    ended = (kind == CROSS) & (d == 0) & (b == ROOT) & (closure[ROOT, q] > 0)
    parent, left, right = grammar.binary[rule].T
    place = np.where(kind == WITHIN, expected[d, b, parent], closure[b, parent])  # of the rule's parent
    used = (left == q) & (place > 0) & (fitting[d + (kind == WITHIN), right] > 0)
    _check_all("reductions", events.reductions, completed & np.where(rule == END, ended, used))
    # Expansions: a preterminal fills the awaited place itself, or is down its left edge in a further element.
    d, _, b, tag = events.expansions.astype(np.int64).T
    fills = np.any(closure[:, grammar.preterminals] > 0, axis=1)[b]
    has_room = d < len(expected)
    begins = has_room & grammar.preterminals[tag] & (expected[np.where(has_room, d, 0), b, tag] > 0)
    _check_all("expansions", events.expansions, np.where(tag == HERE, fills, begins))


def _check_all(name: str, events: IntArray, possible: BoolArray) -> None:
    """Raise ModelError naming the first event that is not possible."""
    if not possible.all():
        place = int(np.argmin(possible))
        wanted = "wanted one to which its grammar gives a probability"
        raise ModelError(f"damaged model of events: {name} has the event {events[place].tolist()} at {place}, {wanted}")


class _Level(NamedTuple):
    """Counts of reductions by context g, kind k and outcome o; an outcome is a rule in one context and of one kind.

    `keys`   (G) keys of the contexts
    `group`  (R) the context of each event
    `kinds`  (G, 2) counts n, and `types` (G, 2) numbers T of distinct outcomes, by context and kind
    `cell`   (O) 2 g + k of each outcome; `rule` (O) its rule, `counts` (O) its count; sorted by cell and rule
    `starts` (2 G + 1) the first outcome of each cell
    """

    keys: Keys
    group: LongArray
    kinds: FloatArray
    types: FloatArray
    cell: Keys
    rule: Keys
    counts: FloatArray
    starts: Keys


def _level(keys: Keys, kind: IntArray, rule: IntArray, counts: FloatArray, rules: int) -> _Level:
    """Count events by context, kind and rule; `rules` is the number of rules."""
    contexts, group = np.unique(keys, return_inverse=True)
    cells = 2 * len(contexts)
    outcome, which = np.unique((2 * group + kind) * (rules + 1) + rule + 1, return_inverse=True)
    cell, used = np.divmod(outcome, rules + 1)
    types = np.bincount(cell, minlength=cells)
    kinds: FloatArray = np.bincount(2 * group + kind, counts, cells).astype(np.float64)
    summed: FloatArray = np.bincount(which, counts).astype(np.float64)
    starts = np.concatenate(([0], np.cumsum(types)))
    return _Level(
        contexts, group, kinds.reshape(-1, 2), types.reshape(-1, 2).astype(np.float64), cell, used - 1, summed, starts
    )


def _reductions(
    events: Events, grammar: Grammar, left_progeny: LeftProgeny, order: LongArray, ending: FloatArray
) -> tuple[Keys, FloatArray, IntArray, IntArray, FloatArray]:
    """Return the rows of reductions, in the form of `Counted`; smoothed values overwrite those of `ending`."""
    # Counts with the active symbol (narrow) and without it (wide).
    size, rules, strength = grammar.size, len(grammar.binary), events.strength
    d, a, b, q, kind, rule = events.reductions.astype(np.int64).T
    wide = _level(context_key(size, d, size, b, q), kind, rule, events.reduced, rules)
    deeper = d > 0
    narrow = _level(context_key(size, d, a, b, q)[deeper], kind[deeper], rule[deeper], events.reduced[deeper], rules)
    below = np.zeros(len(narrow.keys), np.int64)  # the wide context of each narrow one
    below[narrow.group] = wide.group[deeper]

    # P(kind | context): wide contexts back off to P0(kind), narrow ones to their wide contexts.
    example = np.zeros(len(wide.keys), np.int64)
    example[wide.group] = np.arange(len(d))
    depth, completed = d[example], q[example]
    expected = _expected_kinds(grammar, left_progeny)[:, depth, b[example], completed].T  # P0(kind)
    kinds = _mixed(wide.kinds, np.count_nonzero(wide.kinds, axis=1), expected, strength)
    narrow_kinds = _mixed(narrow.kinds, np.count_nonzero(narrow.kinds, axis=1), kinds[below], strength)
    ending[completed[depth == 0]] = kinds[depth == 0, CROSS]

    # P(rule | context, kind): relative frequencies, and what is left for less context.
    seen, rest = _relative(wide, strength)
    own, narrow_rest = _relative(narrow, strength)
    cell, source, narrow_seen = _inherited(narrow, wide, below, seen, own, narrow_rest, rules)
    # P(kind | h) P(rule | h, kind) = backoff · P0(rule, kind) + extra; P0(rule | kind) = P0(rule, kind) / P0(kind).
    with np.errstate(divide="ignore", invalid="ignore"):
        remaining = np.nan_to_num(rest / expected, posinf=0.0)
    backoff = np.concatenate([kinds * remaining, narrow_kinds * narrow_rest * remaining[below]])
    cell = np.concatenate([wide.cell, 2 * len(wide.keys) + cell])
    rule = np.concatenate([wide.rule, wide.rule[source]])
    extra = np.concatenate([seen, narrow_seen]) * np.concatenate([kinds, narrow_kinds]).ravel()[cell]

    # Leave out the end of the sentence, which is in `ending`; divide by R, a factor of step 2 (transitions.py).
    kept = rule != END
    cell, rule, extra = cell[kept], rule[kept], extra[kept]
    depth = np.concatenate([depth, depth[below]])[cell // 2] + cell % 2  # a new element (WITHIN) is one deeper
    extra /= left_progeny.fitting[depth, grammar.binary[rule, 2]]
    return _in_order(np.concatenate([wide.keys, narrow.keys]), backoff, cell, np.argsort(order)[rule], extra)


def _inherited(
    narrow: _Level, wide: _Level, below: Keys, seen: FloatArray, own: FloatArray, rest: FloatArray, rules: int
) -> tuple[Keys, Keys, FloatArray]:
    """Return the outcomes of narrow contexts, which are those of their wide ones, with their probabilities without P0.

    The three arrays are the cell of each outcome, its number among the wide outcomes, and its probability. `seen` and
    `own` are the discounted relative frequencies in wide and narrow contexts; `rest` (G, 2) is the weight of the wide
    context.
    """
    cells = (2 * below[:, None] + np.arange(2)).ravel()
    lengths = np.diff(wide.starts)[cells]
    source = np.repeat(wide.starts[cells] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    cell = np.repeat(np.arange(len(cells)), lengths)
    mixed = rest.ravel()[cell] * seen[source]
    mixed[np.searchsorted(cell * (rules + 1) + wide.rule[source], narrow.cell * (rules + 1) + narrow.rule)] += own
    return cell, source, mixed


def _in_order(
    keys: Keys, backoff: FloatArray, cell: Keys, rule: Keys, extra: FloatArray
) -> tuple[Keys, FloatArray, IntArray, IntArray, FloatArray]:
    """Sort contexts by key, and their events by context and kind."""
    position = np.argsort(keys)
    cell = 2 * np.argsort(position)[cell // 2] + cell % 2
    starts = np.concatenate(([0], np.cumsum(np.bincount(cell, minlength=2 * len(keys)))))
    sorting = np.argsort(cell, kind="stable")
    return keys[position], backoff[position], starts.astype(np.int32), rule[sorting].astype(np.int32), extra[sorting]


def _mixed(counts: FloatArray, types: Any, below: FloatArray, strength: float) -> FloatArray:
    """Interpolate rows of counts with rows of probabilities (Witten–Bell); `types` is T(h) of each row."""
    weight = strength * np.asarray(types, np.float64)[:, None]
    mixed: FloatArray = (counts + weight * below) / (counts.sum(axis=1, keepdims=True) + weight)
    return mixed


def _relative(level: _Level, strength: float) -> tuple[FloatArray, FloatArray]:
    """Return (O) n(h, e) / (n(h) + κ T(h)) of each outcome within its kind, and (G, 2) the weight of less context."""
    total = level.kinds + strength * level.types
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(total > 0, strength * level.types / total, 1.0)
        return level.counts / total.ravel()[level.cell], rest


def _expected_kinds(grammar: Grammar, left_progeny: LeftProgeny) -> FloatArray:
    """Return (2, D, S, S) P0(kind | d, b, q): equations (23) and (24), with depth-bounded weights."""
    expected, fitting = left_progeny.expected, left_progeny.fitting
    p, right = np.exp(grammar.binary_logp), grammar.binary[:, 2]
    kinds = np.empty((2, *expected.shape))
    for d, edge in enumerate(expected):
        kinds[1, d] = edge @ rule_sums(grammar, 1, p * fitting[d + 1, right])
        if d:
            kinds[0, d] = left_progeny.closure @ rule_sums(grammar, 1, p * fitting[d, right])
        else:
            kinds[0, 0] = 0.0
            kinds[0, 0, ROOT] = left_progeny.closure[ROOT]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(kinds / expected)  # 0 / 0 is 0: what is expected 0 times has no kind of more than 0


def _expansions(events: Events, grammar: Grammar, left_progeny: LeftProgeny) -> tuple[Keys, FloatArray]:
    """Return keys and rows of the left edges that were seen, by (d, b) and by (d, a, b)."""
    size, strength = grammar.size, events.strength
    # Only awaited symbols with binary rules, in a store with room for a new element, have a choice.
    phrasal = np.zeros(size, np.bool_)
    phrasal[grammar.binary[:, 0]] = phrasal[ROOT] = True
    d, a, b, x = events.expansions.astype(np.int64).T
    kept = phrasal[b] & (d < events.depth)
    d, a, b, x, counts = d[kept], a[kept], b[kept], x[kept], events.expanded[kept]
    column = np.where(x == HERE, size, x)

    emitted = np.bincount(grammar.lexicon.symbols, np.exp(grammar.lexicon.logp), size)
    here = left_progeny.closure @ emitted

    def level(keys: Keys, rows: BoolArray) -> tuple[Keys, LongArray, FloatArray]:
        """Return the distinct keys of some rows, an event of each, and (keys, S + 1) counts."""
        contexts, group = np.unique(keys[rows], return_inverse=True)
        table = np.zeros((len(contexts), size + 1))
        np.add.at(table, (group, column[rows]), counts[rows])
        first = np.zeros(len(contexts), np.int64)
        first[group] = np.flatnonzero(rows)
        return contexts, first, table

    # P(x | d, b), backing off to P0. `unit` is the factor between a row of `openings` and probabilities.
    wide_of = context_key(size, d, size, b, 0)
    wide, first, table = level(wide_of, d >= 0)
    depth, awaited = d[first], b[first]
    unit = np.column_stack([np.tile(emitted, (len(wide), 1)), np.where(depth > 0, here[awaited], 0.0)])
    unit /= left_progeny.fitting[depth, awaited][:, None]
    weights = np.column_stack([left_progeny.expected[depth, awaited], np.ones(len(wide))])
    wide_p = _mixed(table, np.count_nonzero(table, axis=1), weights * unit, strength)
    # P(x | d, a, b), backing off to P(x | d, b).
    narrow, first, table = level(context_key(size, d, a, b, 0), d > 0)
    below = np.searchsorted(wide, wide_of[first])
    narrow_p = _mixed(table, np.count_nonzero(table, axis=1), wide_p[below], strength)
    keys, p = np.concatenate([wide, narrow]), np.concatenate([wide_p, narrow_p])
    with np.errstate(divide="ignore", invalid="ignore"):
        openings = np.nan_to_num(p / np.concatenate([unit, unit[below]]), posinf=0.0)
    position = np.argsort(keys)
    return keys[position], np.ascontiguousarray(openings[position])


def _opened_by_rules(edges: Keys, grammar: Grammar, order: LongArray, depth: int) -> IntArray:
    """Return (D + 1, B) the row of the left edge below the new element q'/c of each rule, at each depth; -1: none."""
    size = grammar.size
    parent, _, right = grammar.binary[order].astype(np.int64).T
    edge_rows = np.full((depth + 1, len(order)), -1, np.int32)
    for d in range(depth + 1) if len(edges) else ():
        for active in (np.full_like(parent, size), parent):  # a left open, then a = q', which takes precedence
            keys = context_key(size, d, active, right, 0)
            position = np.minimum(np.searchsorted(edges, keys), len(edges) - 1)
            edge_rows[d] = np.where(edges[position] == keys, position, edge_rows[d])
    return edge_rows
