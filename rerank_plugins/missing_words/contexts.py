"""The five contexts of a missing word w between the neighbours a₂ a₁ and b₁ b₂, and the words that occur in each.

    left2    C(a₂ a₁ w) / C(a₂ a₁ *)        left1    C(a₁ w) / C(a₁ *)
    around   C(a₁ w b₁) / C(a₁ * b₁)        right1   C(w b₁) / C(* b₁)
    right2   C(w b₁ b₂) / C(* b₁ b₂)

`*` is any word of the vocabulary or `<unk>`, but neither `<s>` nor `</s>`, so that each of the five sums to one over
words; a₂ may be `<s>` and b₂ `</s>`. The text of Song (2016) lacks its Table 1, which lists the five; this
is our reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, IntArray, LongArray
from rerank_plugins.kit.files.declared import Array, Offsets
from rerank_plugins.kit.kernels import filling_kernel
from rerank_plugins.missing_words.word_pairs import find_row


@dataclass(frozen=True, eq=False)
class ContextTable:
    """The words that occur in contexts of one or two neighbours, with their counts.

    With two neighbours, the contexts of the first neighbour v are `starts[v]` … `starts[v + 1]`, sorted by their second
    one, `seconds`; with one neighbour, a context has the number of the neighbour, and `seconds` is empty. The words of
    context c are `words[rows[c] : rows[c + 1]]`, sorted, with their `counts`, which sum to `totals[c]`.
    """

    starts: Annotated[LongArray, Offsets("V", "C")]
    seconds: Annotated[IntArray, Array("*")]
    rows: Annotated[LongArray, Offsets("C", "W")]
    totals: Annotated[LongArray, Array("C")]
    words: Annotated[IntArray, Array("W")]
    counts: Annotated[IntArray, Array("W")]

    @property
    def arrays(self) -> Any:
        """All arrays, for kernels."""
        return self.starts, self.seconds, self.rows, self.totals, self.words, self.counts

    @property
    def words_arrays(self) -> tuple[Any, Any, Any, Any]:
        """The arrays of the words of all contexts: `rows`, `totals`, `words`, `counts`."""
        return self.rows, self.totals, self.words, self.counts

    def contexts_of(self, neighbours: IntArray) -> LongArray:
        """(n) the context of each row of (n, 1 or 2) neighbours, the nearest first; -1 where it does not occur."""
        rows_of_contexts = np.full(len(neighbours), -1, np.int64)
        find_contexts(self.starts, self.seconds, self.rows, neighbours, rows_of_contexts)
        return rows_of_contexts

    def probabilities(self, context: int, words: int) -> FloatArray:
        """(words) the relative frequency of each word in a context; 0 everywhere if the context is -1."""
        dense = np.zeros(words)
        if context >= 0:
            row = slice(self.rows[context], self.rows[context + 1])
            dense[self.words[row]] = self.counts[row] / self.totals[context]
        return dense


@filling_kernel
def find_contexts(starts: Any, seconds: Any, rows: Any, neighbours: Any, contexts: Any) -> None:
    """Fill in the context of each row of neighbours, or -1 where it never occurs."""
    for i in range(len(neighbours)):
        if neighbours.shape[1] == 1:
            context = neighbours[i, 0]
            contexts[i] = context if rows[context] < rows[context + 1] else -1
        else:
            contexts[i] = find_row(starts, seconds, neighbours[i, 0], neighbours[i, 1])
