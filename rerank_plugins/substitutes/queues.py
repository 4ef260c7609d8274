"""The sorted queues of a model: for each context of a substitute, the words seen there by falling bound.

The score of a substitute w between x and c_1 c_2 … (window_scores.py) telescopes over the contexts that hold w. With

    gain(h, y) = log p(y | h) - β(h) - log p(y | h'), which is 0 unless the model has the n-gram h y,

h' being h without its farthest word, and x_k the k words nearest to the substitute,

    S(w) = constant + log p(w) + Σ_{k≥1} gain(x_k, w)
           + Σ_{j≥1} Σ_{k≥0} [β(x_k w c_1 … c_{j-1}) + gain(x_k w c_1 … c_{j-1}, c_j)].

All but the constant belongs to n-grams that hold w. They are of three families:

- left (x_k w): S has log p(w | x_k) + Σ_i β(x_i w), a sum over all i;
- right (w c_1 … c_j): S has Σ_{i≤j} [gain(w c_1 … c_{i-1}, c_i) + β(w c_1 … c_i)];
- middle (… x_1 w c_1 …): words seen between both neighbours, whose score is the key unless they are in longer n-grams.

The score of a word in no middle queue is the sum of its left and its right part, and each part is the key of the word
in the queue of the longest n-gram that it is in, or, if it is in none, half the base g(w) = log p(w) + β(w) that every
word has. With the whole base on one side, the other side's queues would begin with rare words of large gain, and the
sum of both bounds would be far above any score. In Yuret's queues, by contrast, a back-off weight whose argument holds
w has the bound 0, and each probability has queues of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, IntArray, LongArray
from rerank_plugins.kit.backoff.order_estimation import first_children
from rerank_plugins.kit.backoff.scoring import look_up
from rerank_plugins.kit.backoff.tables import BackoffTables, RecordArray
from rerank_plugins.kit.files.array_values import ContentsError, check_rising
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets
from rerank_plugins.kit.kernels import filling_kernel, kernel
from rerank_plugins.kit.vocabulary.word_ids import EOS
from rerank_plugins.substitutes.ngram_filters import seen_filters

Keys = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Queues:
    """The queues of a model of C contexts and V words; keys are log10, rounded up, and fall within each queue.

    `base_words`, `base_keys` (V): all words by g(w) / 2. `halves` (V): g(w) / 2 by the number of the word.
    `left_words`, `left_keys` (n-grams of order 2 and more): the words seen after each context, where the context's
    events are in the tables, less V.
    `right_rows` (C + 1), `right_symbols` (queues), `right_starts` (queues + 1), `right_words`, `right_keys`: the queue
    of (w c_1 … c_j) is in the row of the context c_1 … c_{j-1}, and c_j is its symbol.
    `middle_rows` (V + 1), `middle_symbols`, `middle_starts`, `middle_words`, `middle_keys`: the words seen between x_1,
    the row, and c_1, the symbol; the key is S of the word but for constants, unless it is in longer n-grams as well.
    `children` (C + 1): the first extension of each context by a symbol.
    `pairs`, `triples`: filters of the last two and three words of n-grams (ngram_filters.py).
    `closed` (1): whether the model has each n-gram's end, the n-gram without its first word, as unpruned models have.
    """

    base_words: Annotated[IntArray, Array("V", below="V")]
    base_keys: Annotated[Keys, Array("V")]
    halves: Annotated[Keys, Array("V")]
    left_words: Annotated[IntArray, Array("N", below="V")]
    left_keys: Annotated[Keys, Array("N")]
    right_rows: Annotated[LongArray, Offsets("C", "R")]
    right_symbols: Annotated[IntArray, Array("R", below="V")]
    right_starts: Annotated[LongArray, Offsets("R", "N")]
    right_words: Annotated[IntArray, Array("N", below="V")]
    right_keys: Annotated[Keys, Array("N")]
    middle_rows: Annotated[LongArray, Offsets("V", "M")]
    middle_symbols: Annotated[IntArray, Array("M", below="V")]
    middle_starts: Annotated[LongArray, Offsets("M", "W")]
    middle_words: Annotated[IntArray, Array("W", below="V")]
    middle_keys: Annotated[Keys, Array("W")]
    children: Annotated[IntArray, Array("C+1")]
    pairs: Annotated[LongArray, Array("*")]
    triples: Annotated[LongArray, Array("*")]
    closed: Annotated[BoolArray, Array("1")]

    @classmethod
    def build(cls, tables: BackoffTables) -> Queues:
        """Sort the queues of a model of text; takes about 0.5 µs an n-gram."""
        contexts, events = tables.contexts, tables.events
        count, words = len(contexts) - 1, tables.sizes[0]
        chains, base = back_off_chains(contexts, events, words, tables.unseen)
        owner = np.repeat(np.arange(count, dtype=np.int32), np.diff(contexts["events"]))[words:]
        seen = events[words:]
        # The left family: rows are contexts, and there is one queue in each.
        keys = seen["log10"].astype(np.float64) + chains[seen["next"]] - base[seen["symbol"]] / 2
        *_, left_words, left_keys = sorted_queues(
            owner, np.zeros(len(seen), np.int32), seen["symbol"], _up(keys), count
        )
        # The right family: the substitute is the farthest word of the context of an n-gram.
        size = len(seen)
        sums, has_suffix = np.zeros(size), np.zeros(size, np.bool_)
        middle_keys = np.zeros(tables.sizes[2] if tables.order > 2 else 0)
        add_sums(
            contexts, events, tables.context_levels, tables.event_levels, owner, chains, tables.unseen, sums,
            middle_keys, has_suffix,
        )  # fmt: skip
        farthest = contexts["symbol"][owner]
        keys = sums + base[farthest] / 2
        right = sorted_queues(contexts["parent"][owner], seen["symbol"], farthest, _up(keys), count)
        # The middle family, and the filters of what the model has seen.
        if tables.order > 2:
            rows, symbols, between, keys = middle_windows(tables, owner, middle_keys, has_suffix)
            middle = sorted_queues(rows, symbols, between, _up(keys), words)
        else:
            none = np.zeros(0, np.int32)
            middle = sorted_queues(none, none, none, np.zeros(0, np.float32), words)
        by_base = np.argsort(-base, kind="stable")
        return cls(
            by_base.astype(np.int32), _up(base[by_base] / 2), _up(base / 2), left_words, left_keys, *right, *middle,
            first_children(contexts), *seen_filters(tables, owner, has_suffix), np.array([has_suffix.all()]),
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels take them."""
        return tuple(getattr(self, field.name) for field in fields(self))


def check_children(queues: Queues) -> None:
    """Raise ContentsError unless the first extensions rise, up to the number of contexts, and filters are not empty."""
    check_rising("children", queues.children, len(queues.children) - 1)
    for name, filter_ in (("pairs", queues.pairs), ("triples", queues.triples)):
        if len(filter_).bit_count() != 1:
            raise ContentsError(f"{name} has the length {len(filter_)}, wanted a power of two")


FILE = ModelFile(Queues, "substitute-queues", "file of queues", check=check_children)


def _up(keys: FloatArray) -> Keys:
    """The keys in 32 bits, none of them smaller than it was."""
    return np.nextafter(keys.astype(np.float32), np.float32(np.inf))


def back_off_chains(contexts: Any, events: Any, words: int, unseen: float) -> tuple[FloatArray, FloatArray]:
    """(C) Σ β over a context and all its suffixes, less `unseen` for each; (V) g(w) = log p(w) + β(w)."""
    chains = np.zeros(len(contexts) - 1)
    add_chains(contexts, unseen, chains)
    following = events["next"][:words]
    base = events["log10"][:words].astype(np.float64) + chains[following]
    return chains, base


@filling_kernel
def add_chains(contexts: NDArray[Any], unseen: float, chains: FloatArray) -> None:
    """Fill in the sums from the empty context on; a context comes after its suffixes."""
    for context in range(1, len(chains)):
        chains[context] = chains[contexts[context]["parent"]] + contexts[context]["backoff"] - unseen


@kernel
def add_sums(
    contexts: NDArray[Any], events: NDArray[Any], context_levels: LongArray, event_levels: LongArray, owner: IntArray,
    chains: FloatArray, unseen: float, sums: FloatArray, middle: FloatArray, has_suffix: BoolArray,
) -> None:  # fmt: skip
    """Fill in the keys of the right and the middle family, order by order, for the n-grams of order 2 and more.

    `sums` has Σ_{i≤j} [gain(w c_1 … c_{i-1}, c_i) + β(w c_1 … c_i)] of each n-gram w c_1 … c_j. `middle` has, for each
    3-gram x_1 w c_1, the part of S(w) that belongs to it and to the shorter n-grams in it. `has_suffix` says whether
    the model has the n-gram without its first word.
    """
    words = event_levels[1]
    passed = np.zeros(len(contexts) - 1)  # the sum of the n-gram that the context is
    own = np.zeros(len(contexts) - 1)  # log10 p of the n-gram that the context is
    for order in range(2, len(event_levels)):
        for i in range(event_levels[order - 1] - words, event_levels[order] - words):
            event = events[i + words]
            context = owner[i]
            shorter = contexts[context]["parent"]
            lower, match = look_up(contexts, events, shorter, event["symbol"])
            has_suffix[i] = match >= contexts[shorter]["events"]
            added = event["log10"] - contexts[context]["backoff"] - lower
            following = event["next"]
            is_context = following >= context_levels[order]
            if is_context and event["symbol"] != EOS:  # nothing follows `</s>`
                added += contexts[following]["backoff"] - unseen
            sums[i] = passed[context] + added
            if is_context:
                passed[following] = sums[i]
                own[following] = event["log10"]
            if order == 3:
                middle[i - event_levels[2] + words] = own[context] + chains[context] + added
                if match >= words:
                    middle[i - event_levels[2] + words] += sums[match - words]


def middle_windows(
    tables: BackoffTables, owner: IntArray, keys: FloatArray, has_suffix: BoolArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """The x_1, c_1, w and key of all windows x_1 w c_1 inside n-grams.

    Those are the 3-grams, and in models from which 3-grams were pruned, the last three words of longer n-grams, whose
    key is infinite.
    """
    contexts, symbols = tables.contexts, tables.events["symbol"][tables.sizes[0] :]
    start, end = (tables.event_levels[2:4] - tables.sizes[0]).tolist()
    context, symbol = owner[start:end], symbols[start:end]
    windows = contexts["symbol"][context], symbol, contexts["symbol"][contexts["parent"][context]], keys
    pruned = end + np.flatnonzero(~has_suffix[end:])
    if not len(pruned):
        return windows
    context = last_words(contexts, owner[pruned], 2, tables.context_levels)
    extra = contexts["symbol"][context], symbols[pruned], contexts["symbol"][contexts["parent"][context]]
    endless = np.full(len(pruned), np.inf)
    return tuple(np.concatenate(pair) for pair in zip(windows, (*extra, endless), strict=True))  # type: ignore[return-value]


def last_words(contexts: RecordArray, context: IntArray, length: int, levels: LongArray) -> IntArray:
    """The contexts without their farthest words, so that `length` words are left of each."""
    while (long := context >= levels[length + 1]).any():
        context = np.where(long, contexts["parent"][context], context)
    return context


def sorted_queues(
    rows: IntArray, symbols: IntArray, words: IntArray, keys: Keys, count: int
) -> tuple[LongArray, IntArray, LongArray, IntArray, Keys]:
    """Sort entries by row, then by symbol, then by falling key, and find the queues: the runs of one row and symbol.

    Returns (count + 1) the first queue of each row, (queues) their symbols, (queues + 1) where they start, and the
    words and keys in this order.
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    # A float32 as an integer that rises as the float falls.
    bits = keys.view(np.int32)
    falling = np.where(bits < 0, bits.astype(np.int64) & 0xFFFFFFFF, 0x7FFFFFFF - bits.astype(np.int64))
    composite = (symbols.astype(np.int64) << 32) | falling
    order = np.empty(len(rows), np.int64)
    sort_rows(rows, starts, composite, order)
    row, symbol = rows[order], symbols[order]
    new = np.flatnonzero(np.concatenate([[True], (row[1:] != row[:-1]) | (symbol[1:] != symbol[:-1])])[: len(row)])
    queues = np.searchsorted(row[new], np.arange(count + 1))
    ends = np.append(new, len(row)).astype(np.int64)
    return queues.astype(np.int64), symbol[new], ends, words[order].astype(np.int32), keys[order]


@kernel
def sort_rows(rows: IntArray, starts: LongArray, composite: LongArray, order: LongArray) -> None:
    """Fill in the order of the entries: a counting sort by row, then a sort of each row by `composite`."""
    cursor = starts[:-1].copy()
    for i in range(len(rows)):
        order[cursor[rows[i]]] = i
        cursor[rows[i]] += 1
    for row in range(len(starts) - 1):
        low, high = starts[row], starts[row + 1]
        if high - low > 1:
            members = order[low:high].copy()
            chosen = np.argsort(composite[members])
            for i in range(high - low):
                order[low + i] = members[chosen[i]]
