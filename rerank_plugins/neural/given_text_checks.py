"""Whether ln p are those of the given text: two known texts, of which one is the other in another order.

Some servers answer the same requests with other numbers and no error: ln p of what they generated, zeros, or values of
another text. Scores by such a server would rank at chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rerank_plugins import ModelError
from rerank_plugins.neural.given_text import GivenText

PROBE = "The old man gave the child a red apple , and she thanked him for it ."
MORE = " Then they went home ."
SAME = 0.2  # nats that one token's ln p may differ between two requests, in half precision and other batches


def permuted(text: str) -> str:
    """The words of a text in the opposite order."""
    return " ".join(text.split()[::-1])


def check_given(where: str, advice: str, scored: Callable[[Sequence[str]], list[GivenText]]) -> None:
    """Raise ModelError, in one line with advice, for a server or model whose ln p are not those of the given texts.

    `where` names it. `scored` gives the tokens of texts, and has checked that they spell the texts.
    """
    first, second, longer = scored([f"\n{PROBE}\n", f"\n{permuted(PROBE)}\n", f"\n{PROBE}{MORE}\n"])
    (again,) = scored([f"\n{PROBE}\n"])
    for found in (first, second, longer):
        words = len(PROBE.split())
        if len(found.ends) < words / 2:
            raise ModelError(f"{where}: {len(found.ends)} tokens for a text of {words} words: {advice}")
        if any(map(math.isnan, found.ln_p[2:])):
            raise ModelError(f"{where}: there is no ln p for some tokens of a given text: {advice}")
    if abs(_sum(first) - _sum(second)) < 1e-6:
        raise ModelError(f"{where}: the words of a text in another order have the same ln p, {_sum(first):g}: {advice}")
    if again.ends != first.ends or _apart(first, again, len(first.ends)) > SAME:
        raise ModelError(
            f"{where}: the same text has another ln p when it is scored again: {_sum(first):g}, {_sum(again):g}"
        )
    shared = next((n for n, (a, b) in enumerate(zip(first.ends, longer.ends, strict=False)) if a != b), 0)
    shared = min(shared, sum(end <= len(PROBE) - 1 for end in first.ends))
    if _apart(first, longer, shared) > SAME:
        raise ModelError(f"{where}: ln p of the words of a text changes with the words after it: {advice}")


def _sum(found: GivenText) -> float:
    return sum(value for value in found.ln_p if not math.isnan(value))


def _apart(one: GivenText, other: GivenText, number: int) -> float:
    """The largest difference among the first tokens."""
    pairs = zip(one.ln_p[:number], other.ln_p[:number], strict=True)
    return max((abs(a - b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))), default=0.0)
