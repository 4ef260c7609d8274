"""Prunes a model of text by relative entropy (Stolcke 1998), as SRILM's `ngram -prune` does.

Without the n-gram h x, the word x gets its probability from the shorter context h', and the back-off weight of h
becomes α'. The relative entropy between the models with and without the n-gram is (Stolcke 1998, eq. 6)

    D = -p(h) { p(x | h) [ln p(x | h') + ln α' - ln p(x | h)] + (1 - Σ_{y in h} p(y | h)) [ln α' - ln α] }

and an n-gram is removed if its removal alone raises the perplexity of the training text by less than a fraction, e^D -
1. p(h) is the model's; that of `<s>` is p(</s>), as in SRILM. The highest order is pruned first. N-grams with which
longer ones begin, or which are the end of the context of one, are kept. Finally all weights are computed anew, so that
probabilities sum to one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, LongArray, ModelError
from rerank_plugins.kit.backoff.order_estimation import first_children, link_events
from rerank_plugins.kit.backoff.scoring import look_up
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS

LEAST_UNSEEN = 1e-10  # probability that is left for words that were not seen in a context, at least


def prune(tables: BackoffTables, threshold: float) -> BackoffTables:
    """The model without the n-grams whose removal raises the perplexity by less than this fraction (1e-8, for example).

    Raises ModelError for stupid backoff, whose scores are no probabilities.
    """
    if tables.unseen != 0.0:
        raise ModelError("stupid backoff cannot be pruned by entropy: its scores are no probabilities")
    contexts, events, levels = tables.contexts, tables.events, tables.context_levels
    kept_contexts, kept_events = np.zeros(len(contexts), np.bool_), np.ones(len(events), np.bool_)
    kept_contexts[[0, -1]] = True
    lower, left = np.zeros(len(events)), np.ones(len(contexts))
    log10_p = np.zeros(len(contexts))
    context_log10s(contexts, events, levels, log10_p)
    for level in range(tables.order - 1, 0, -1):
        first, end = int(levels[level]), int(levels[level + 1])
        mark_kept(contexts, events, first, end, log10_p, threshold, lower, left, kept_contexts, kept_events)
    # The records that are kept, in new numbers, with new links.
    new_contexts, new_events = contexts[kept_contexts], events[kept_events]
    numbers, before = np.cumsum(kept_contexts) - 1, np.concatenate([[0], np.cumsum(kept_events)])
    new_contexts["parent"], new_contexts["events"] = numbers[new_contexts["parent"]], before[new_contexts["events"]]
    new_contexts[-1] = (0.0, 0, len(new_events), 0)
    weigh(new_contexts, new_events, left[kept_contexts])
    context_levels = np.concatenate([[0], np.cumsum(kept_contexts)])[levels].astype(np.int64)
    link_events(new_contexts, first_children(new_contexts), new_events, context_levels)
    return BackoffTables(new_contexts, new_events, context_levels, before[tables.event_levels].astype(np.int64))


@filling_kernel
def context_log10s(contexts: NDArray[Any], events: NDArray[Any], levels: LongArray, log10_p: FloatArray) -> None:
    """Fill in log10 of the probability of each context as a text: the product of the probabilities of its words."""
    for level in range(len(levels) - 2):
        longer = levels[level + 1]
        for context in range(levels[level], longer):
            for event in range(contexts[context]["events"], contexts[context + 1]["events"]):
                following = events[event]["next"]
                if following >= longer:
                    value = events[EOS]["log10"] if level == 0 and event == BOS else events[event]["log10"]
                    log10_p[following] = log10_p[context] + value


@filling_kernel
def mark_kept(
    contexts: NDArray[Any], events: NDArray[Any], first: int, end: int, log10_p: FloatArray, threshold: float,
    lower: FloatArray, left: FloatArray, kept_contexts: BoolArray, kept_events: BoolArray,
) -> None:  # fmt: skip
    """Mark the contexts `first` … `end` of one length and their events as kept or pruned.

    `lower` receives p(x | h') of each event, and `left` the probability that each context leaves for its back-off.
    """
    for context in range(first, end):
        low, high = contexts[context]["events"], contexts[context + 1]["events"]
        unseen = 1.0
        for event in range(low, high):
            score, _ = look_up(contexts, events, contexts[context]["parent"], events[event]["symbol"])
            lower[event] = 10.0**score
            unseen -= lower[event]
        unseen = max(unseen, LEAST_UNSEEN)
        weight = 10.0 ** contexts[context]["backoff"]
        free = weight * unseen
        left[context] = free
        for event in range(low, high):
            # An n-gram that is a context itself is kept; its context is the last one that it points to.
            following = events[event]["next"]
            if following >= end and kept_contexts[following]:
                kept_contexts[context] = True
                continue
            p, q = 10.0 ** events[event]["log10"], lower[event]
            changed = (free + p) / (unseen + q)
            gain = p * (np.log(q) + np.log(changed) - np.log(p)) + free * (np.log(changed) - np.log(weight))
            if np.exp(-(10.0 ** log10_p[context]) * gain) - 1.0 < threshold:
                kept_events[event] = False
                left[context] += p
            else:
                kept_contexts[context] = True
        if kept_contexts[context]:
            kept_contexts[contexts[context]["parent"]] = True


@filling_kernel
def weigh(contexts: NDArray[Any], events: NDArray[Any], left: FloatArray) -> None:
    """Compute the back-off weights from the probability `left` to each context, shorter contexts first."""
    for context in range(1, len(contexts) - 1):
        unseen = 1.0
        for event in range(contexts[context]["events"], contexts[context + 1]["events"]):
            score, _ = look_up(contexts, events, contexts[context]["parent"], events[event]["symbol"])
            unseen -= 10.0**score
        contexts[context]["backoff"] = np.log10(left[context] / max(unseen, LEAST_UNSEEN))
