"""Carries the latent states that were learnt on some trees over to the rewritings of more trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rerank_plugins.constituency.binarised_trees import Forest
from rerank_plugins.constituency.latent_grammar import LatentGrammar, unsplit
from rerank_plugins.core.arrays import FloatArray, LongArray

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
