"""The search for the K best substitutes in one context, by upper-bound queues (Yuret 2012, table I and section III).

    top-level queue    the higher bound of the middle queue and of a sum: left bound + right bound
    left, right        conditional expressions: the bound is the highest of their queues' (eq. 7)
    queues             sorted words of one context (queues.py); the bound is the key of the next word

A popped word is scored exactly (window_scores.py), and the best K are kept in a heap; a word that is below the K-th
best, as its key and the filters (queues.py) can show, is not scored. The search ends when the K-th best is above the
bound of the words that were not popped. Words that equal the bound are popped as well: their numbers decide ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins import FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.scoring import find_context, look_up, unseen_symbols
from rerank_plugins.kit.k_best_heap import offer, sort_heap
from rerank_plugins.kit.kernels import kernel, place_in_row
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS, UNK
from rerank_plugins.substitutes.ngram_filters import may_have
from rerank_plugins.substitutes.window_scores import begin_of_sentence, read_up_to, score_word, window_end

MARGIN = 1e-9  # above the rounding errors of sums of bounds in 64 bits
NOTHING = -np.inf


@kernel
def search(
    model: Any, queues: Any, unseen: float, left: int, tokens: IntArray, start: int, place: int, unknown: bool,
    visited: IntArray, turn: int, scores: FloatArray, words: IntArray,
) -> Any:  # fmt: skip
    """Fill in the best substitutes, in heap order, and return how many there are, and the number of pops.

    `left` is the longest known context before the position, `start` where its sentence begins in `tokens`. A word has
    been scored, or cannot be among the best, if `visited` of it is `turn`.

    It is long, with many arguments, because it is one search over several queues, whose state would be handed over at
    each pop.
    """
    contexts, events, levels = model
    order = len(levels) - 1
    length = place - start
    right = tokens[place + 1 : window_end(tokens, place, order, EOS)]
    previous = int(tokens[place - 1])
    (
        base_words, base_keys, halves, left_words, left_keys, right_rows, right_symbols, right_starts, right_words,
        right_keys, middle_rows, middle_symbols, middle_starts, middle_words, middle_keys, children, pairs, triples,
        closed,
    ) = queues  # fmt: skip
    symbols = len(base_words)
    size = 0
    pops = 0
    # Words that are no substitutes count as scored.
    visited[BOS] = visited[EOS] = turn
    if not unknown:
        visited[UNK] = turn
    # Step 1: the queues of the left part, one for each known context of the substitute, and their constants.
    lists = 2 * order
    at = np.zeros(lists, np.int64)
    end = np.zeros(lists, np.int64)
    constant = np.zeros(lists)
    front = np.full(lists, NOTHING)
    lefts = 0
    passed = 0.0
    middle_constant = 0.0
    if unseen != 0.0:
        passed += unseen * unseen_symbols(levels, left, length)
    context = int(left)
    while context > 0:
        at[lefts] = contexts[context]["events"] - symbols
        end[lefts] = contexts[context + 1]["events"] - symbols
        constant[lefts] = passed
        middle_constant = passed
        passed += contexts[context]["backoff"]
        context = int(contexts[context]["parent"])
        lefts += 1
    nearest_left = lefts - 1  # the queue of the context of one word
    nearest_right = -1
    base_constant = passed
    # Step 2: the queues of the right part, and log p of the words after the substitute without it.
    count = lefts
    fixed = 0.0
    after = 0
    for j in range(len(right)):
        symbol = int(right[j])
        # The queue of w c_1 … c_{j+1} is in the row of the context of exactly c_1 … c_j.
        row = after
        if not levels[j] <= row < levels[j + 1]:
            row = 0
            for i in range(j - 1, -1, -1):
                row = find_context(contexts, children, row, right[i])
                if row < 0:
                    break
        if row >= 0:
            queue = place_in_row(right_rows, right_symbols, row, symbol)
            if queue >= 0:
                at[count], end[count] = right_starts[queue], right_starts[queue + 1]
                if j == 0:
                    nearest_right = count
                count += 1
        if unseen != 0.0:
            fixed += unseen * (unseen_symbols(levels, after, j) + min(order - 1, length + j + 1) - min(order - 1, j))
        term, event = look_up(contexts, events, after, symbol)
        fixed += term
        after = int(events[event]["next"])
    for i in range(lefts):
        constant[i] += fixed
        if at[i] < end[i]:
            front[i] = constant[i] + left_keys[at[i]]
    for i in range(lefts, count):
        if at[i] < end[i]:
            front[i] = right_keys[at[i]]
    base_constant += fixed
    middle_constant += fixed
    base = 0
    # Step 3: the middle queue. The score of a word that is in no longer queue is its key; words in longer queues are
    # scored now: those of the longer queues that the filter does not deny, or all of the middle queue if it is shorter.
    middle, middle_end = 0, 0
    if len(right) > 0:
        before = int(tokens[place - 2]) if length > 1 else -1
        then = int(right[1]) if len(right) > 1 else -1
        queue = place_in_row(middle_rows, middle_symbols, previous, right[0])
        if queue >= 0:
            middle, middle_end = middle_starts[queue], middle_starts[queue + 1]
        longer = 0
        for i in range(count):
            if i != nearest_left and i != nearest_right:
                longer += end[i] - at[i]
        if closed[0] and longer < middle_end - middle:
            for i in range(count):
                if i != nearest_left and i != nearest_right:
                    in_queue = left_words if i < lefts else right_words
                    for j in range(at[i], end[i]):
                        word = in_queue[j]
                        pops += 1
                        if visited[word] != turn and may_have(triples, previous, word, int(right[0])):
                            visited[word] = turn
                            score = score_word(contexts, events, levels, unseen, left, length, right, word)
                            size = offer(scores, words, size, score, word)
        else:
            for i in range(middle, middle_end):
                word = middle_words[i]
                pops += 1
                if visited[word] == turn:
                    continue
                visited[word] = turn
                if (
                    size == len(scores)
                    and middle_constant + middle_keys[i] + MARGIN < scores[0]
                    and not (before >= 0 and may_have(triples, before, previous, word))
                    and not (then >= 0 and may_have(triples, word, int(right[0]), then))
                ):
                    continue
                score = score_word(contexts, events, levels, unseen, left, length, right, word)
                size = offer(scores, words, size, score, word)
            middle = middle_end
    # Step 4: pop from the left and the right part in turn, each time from the queue with the highest bound. A word's
    # score is the sum of its keys on both sides; if a filter denies that it is in a queue of the other side, its key
    # there is half the base.
    turn_left = True
    while base < symbols:
        key = np.float64(base_keys[base])
        best_left, left_bound = -1, base_constant + key
        for i in range(lefts):
            if front[i] > left_bound:
                best_left, left_bound = i, front[i]
        best_right, right_bound = -1, key
        for i in range(lefts, count):
            if front[i] > right_bound:
                best_right, right_bound = i, front[i]
        middle_bound = middle_constant + middle_keys[middle] if middle < middle_end else NOTHING
        if size == len(scores) and max(left_bound + right_bound, middle_bound) + MARGIN < scores[0]:
            break
        if middle_bound > left_bound + right_bound:
            word = middle_words[middle]
            middle += 1
            pops += 1
            if visited[word] != turn:
                visited[word] = turn
                score = score_word(contexts, events, levels, unseen, left, length, right, word)
                size = offer(scores, words, size, score, word)
            continue
        chosen = best_left if turn_left else best_right
        turn_left = not turn_left
        pops += 1
        full = size == len(scores)
        if chosen < 0:
            word = base_words[base]
            base += 1
            if (
                full
                and base_constant + 2 * key + MARGIN < scores[0]
                and not may_have(pairs, -1, previous, word)
                and not (len(right) > 0 and may_have(pairs, -1, word, right[0]))
            ):
                continue
        elif chosen < lefts:
            word = left_words[at[chosen]]
            at[chosen] += 1
            bound = left_bound + halves[word]
            front[chosen] = constant[chosen] + left_keys[at[chosen]] if at[chosen] < end[chosen] else NOTHING
            if full and bound + MARGIN < scores[0] and not (len(right) > 0 and may_have(pairs, -1, word, right[0])):
                continue
        else:
            word = right_words[at[chosen]]
            at[chosen] += 1
            bound = right_bound + base_constant + halves[word]
            front[chosen] = np.float64(right_keys[at[chosen]]) if at[chosen] < end[chosen] else NOTHING
            if full and bound + MARGIN < scores[0] and not may_have(pairs, -1, previous, word):
                continue
        if visited[word] != turn:
            visited[word] = turn
            score = score_word(contexts, events, levels, unseen, left, length, right, word)
            size = offer(scores, words, size, score, word)
    return size, pops


@kernel
def search_places(
    model: Any, queues: Any, unseen: float, tokens: IntArray, places: LongArray, unknown: bool,
    words: IntArray, scores: FloatArray, sizes: LongArray, pops: LongArray,
) -> None:  # fmt: skip
    """Fill in the best substitutes at each of some positions, best first: a row of `words` and log10 `scores` each.

    `tokens` are sentences from `<s>` to `</s>`; `places` ascend. `sizes` is how many substitutes
    there are, `pops` how many words were popped from the queues.
    """
    contexts, events, _ = model
    visited = np.zeros(len(queues[0]), np.int32)
    context = 0
    start = 0
    at = begin_of_sentence(tokens, places[0], BOS) if len(places) > 0 else 0
    for row in range(len(places)):
        place = places[row]
        start, context = read_up_to(contexts, events, tokens, place, BOS, at, start, context)
        at = place
        size, pops[row] = search(
            model, queues, unseen, context, tokens, start, place, unknown, visited, row + 1, scores[row], words[row]
        )
        sizes[row] = size
        sort_heap(scores[row], words[row], size)
