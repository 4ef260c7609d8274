"""The E step of the models whose links are independent of each other: model 1 and model 2 with a diagonal prior.

    p(f_j, i) = δ(i | j) t(f_j | e_i)        given words i = 1 … l, and NULL, with the probability p₀

Expected counts are summed as whole numbers in units of 1 / ONE. Such sums are the same in any order, so a model does
not depend on how the sentence pairs are divided among threads.
"""

from __future__ import annotations

from math import log
from typing import Any

from rerank_plugins.kit.kernels import filling_kernel

ONE = float(1 << 38)  # sums up to 33 million; posteriors below 2e-12 count as 0


@filling_kernel
def expect_independent(
    first: int, last: int, given_offsets: Any, offsets: Any, tokens: Any, link_starts: Any, links: Any,
    given_is_source: bool, t: Any, t_null: Any, null_share: float, shares: Any, share_starts: Any, adapts: bool,
    work: Any, counts: Any, null_counts: Any, share_counts: Any, ln_p: Any,
) -> None:  # fmt: skip
    """Add up the expected counts of the sentence pairs `first` … `last`, and fill in their ln p(generated | given).

    `offsets` and `tokens` are those of the generated side. A `null_share` of 0 stands for 1 / (l + 1), as in model 1.
    With `adapts`, `share_counts` gets the expected counts of the elements of `shares`. `work` has one element for each
    given word.
    """
    for sentence in range(first, last):
        given = given_offsets[sentence + 1] - given_offsets[sentence]
        generated = offsets[sentence + 1] - offsets[sentence]
        to_given, to_next = (generated, 1) if given_is_source else (1, given)
        null = null_share if null_share > 0 else 1.0 / (given + 1)
        share = share_starts[sentence]
        start = link_starts[sentence]
        total = 0.0
        for token in tokens[offsets[sentence] : offsets[sentence + 1]]:
            of_null = null * t_null[token]
            sum_ = of_null
            link = start
            for i in range(given):
                work[i] = (1.0 - null) * shares[share + i] * t[links[link]]
                sum_ += work[i]
                link += to_given
            total += log(sum_)
            unit = ONE / sum_
            null_counts[token] += int(of_null * unit + 0.5)
            link = start
            for i in range(given):
                count = int(work[i] * unit + 0.5)
                counts[links[link]] += count
                if adapts:
                    share_counts[share + i] += count
                link += to_given
            start += to_next
            share += given
        ln_p[sentence] = total
