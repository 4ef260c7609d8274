"""The recursion over the spans of a pruned chart: inside from narrow spans to wide ones, outside back again.

A grammar defines the content of a cell, by four functions of an algebra (Goodman 1999): latent states of categories
(pruned_chart.py), vectors of concepts, best ones or sums (svs/vector_chart.py), sets of symbols (svs/symbol_filter.py).
The recursion is compiled for each algebra, with its functions as parts.

A dense chart is another recursion (inside.py). It goes through the pairs of children of the grammar first and through
split points last, in one run over memory, as every symbol has a place in every cell; a pruned chart goes through the
items that two cells have. Made to do each other's work, either is 34 to 190 times slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rerank_plugins.core.arrays import IntArray
from rerank_plugins.kit.kernels import filling_kernel

Grammar = TypeVar("Grammar")
Chart = TypeVar("Chart")
Work = TypeVar("Work")
OfSpan = Callable[[Grammar, Chart, Work, int, int, int], None]  # of words i … j-1 of n
Opened = Callable[[Grammar, Chart, Work, int, int, int], bool]
OfWord = Callable[[Grammar, Chart, Work, int, int], None]  # of the word at place i, which has a number
OfSplit = Callable[[Grammar, Chart, Work, int, int, int, int], None]  # of words i … k-1 and k … j-1 of n
Recursion = Callable[[Grammar, IntArray, Chart, Work], None]


def inside_over_spans(
    opened: Opened[Grammar, Chart, Work],
    emitted: OfWord[Grammar, Chart, Work],
    met: OfSplit[Grammar, Chart, Work],
    closed: OfSpan[Grammar, Chart, Work],
) -> Recursion[Grammar, Chart, Work]:
    """Return the kernel that fills a chart from the words to the whole sentence.

    For each span, `opened` says whether its cell is to be filled. If so, `emitted` adds the emissions of a single word,
    `met` the rules over each split point, and `closed` ends the cell, with its unary rules. All are parts.
    """
    return _over_spans("fill_inside", opened, emitted, met, closed, narrow_first=True)


def outside_over_spans(
    opened: Opened[Grammar, Chart, Work],
    emitted: OfWord[Grammar, Chart, Work],
    met: OfSplit[Grammar, Chart, Work],
    closed: OfSpan[Grammar, Chart, Work],
) -> Recursion[Grammar, Chart, Work]:
    """Return the kernel that goes from the whole sentence down to the words, over a chart that is filled.

    When it comes to a span, all that is outside its cell has been handed down to it. `opened` goes down the unary rules
    and says whether there is more to do; `emitted` reads the emissions of a single word, `met` hands down to the cells
    on both sides of each split point, and `closed` ends the cell. All are parts.
    """
    return _over_spans("fill_outside", opened, emitted, met, closed, narrow_first=False)


def _over_spans(
    name: str,
    opened: Opened[Grammar, Chart, Work],
    emitted: OfWord[Grammar, Chart, Work],
    met: OfSplit[Grammar, Chart, Work],
    closed: OfSpan[Grammar, Chart, Work],
    *,
    narrow_first: bool,
) -> Recursion[Grammar, Chart, Work]:
    """Return the kernel of that name, whose machine code is kept with its parts, so that their edits are noticed."""

    def fill(grammar: Grammar, words: IntArray, chart: Chart, work: Work) -> None:
        n = len(words)
        for step in range(1, n + 1):
            width = step if narrow_first else n + 1 - step
            for i in range(n - width + 1):
                j = i + width
                if opened(grammar, chart, work, i, j, n):
                    if width == 1:
                        emitted(grammar, chart, work, i, words[i])
                    for k in range(i + 1, j):
                        met(grammar, chart, work, i, k, j, n)
                    closed(grammar, chart, work, i, j, n)

    fill.__module__, fill.__name__, fill.__qualname__ = met.__module__, name, name
    return filling_kernel(fill)
