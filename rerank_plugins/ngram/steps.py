"""Takes single steps from many contexts in one compiled call, for a search that extends all its hypotheses at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.scoring import LN10, look_up, unseen_symbols
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.kernels import filling_kernel


def score_steps(
    tables: BackoffTables | PackedTables, contexts: LongArray, lengths: LongArray, symbols: LongArray
) -> tuple[FloatArray, LongArray]:
    """(n) longest known contexts, numbers of symbols before, next symbols -> (n) ln p, (n) contexts after the symbols.

    The same as `score_step` for each of them.
    """
    if isinstance(tables, PackedTables):
        from rerank_plugins.kit.backoff.packed_scoring import score_packed_steps

        log10, after = score_packed_steps(tables, contexts, lengths, symbols)
        return log10 * LN10, after
    log10, after = np.empty(len(symbols)), np.empty(len(symbols), np.int64)
    _score_steps(
        tables.contexts, tables.events, tables.context_levels, tables.unseen, contexts, lengths, symbols, log10, after
    )
    return log10 * LN10, after


@filling_kernel
def _score_steps(
    contexts: Any, events: Any, levels: Any, unseen: float, starts: Any, lengths: Any, symbols: Any,
    log10: Any, after: Any,
) -> None:  # fmt: skip
    """Fill in the log10 score of each symbol and the context after it."""
    for i in range(len(symbols)):
        score, event = look_up(contexts, events, starts[i], symbols[i])
        if unseen != 0.0:
            score += unseen * unseen_symbols(levels, starts[i], lengths[i])
        log10[i] = score
        after[i] = events[event]["next"]
