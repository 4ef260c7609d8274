"""The tokens of a given text with their ln p: where they end in the text, and whether a server's numbers are theirs.

Some servers answer the same requests with other numbers and no error: ln p of what they generated, zeros, or values of
another text. Scores by such a server would rank at chance, so two known texts are scored first, of which one is the
other in another order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rerank_plugins import ModelError

LONGEST_GAP = 12  # characters of a text that tokens may spell which are no text
BYTE = re.compile("<0x([0-9A-F]{2})>")
PROBE = "The old man gave the child a red apple , and she thanked him for it ."
MORE = " Then they went home ."
SAME = 0.2  # nats that one token's ln p may differ between two requests, in half precision and other batches


class GivenText(NamedTuple):
    """The tokens of a text: the place after the last character of each, and its ln p, NaN where the server has none."""

    ends: list[int]
    ln_p: list[float]


def token_ends(tokens: Sequence[str], text: str) -> list[int]:
    """The place in the text after each token, up to the one with which the text is complete.

    A special token at the beginning has no characters. A space may be written `▁`, and one may be put before the text;
    `<0x0A>` is a byte. A character of several bytes may be spelt by several tokens, some of which are empty or no text.
    """
    ends: list[int] = []
    at = waiting = 0  # waiting: the tokens before this one whose place is not known yet
    unread = False  # whether one of these is no text
    for token in tokens:
        if at == len(text) and ends:
            break
        spelt = _spelt(token)
        if not at and spelt.startswith(" ") and not text.startswith(" "):
            spelt = spelt[1:]
        begin = at if text.startswith(spelt, at) else -1
        if unread and spelt:
            first = at + 1 if at else 0
            begin = text.find(spelt, first, first + LONGEST_GAP + len(spelt))
        if not spelt or begin < 0:
            waiting, unread = waiting + 1, unread or bool(spelt)
        else:
            between = begin if unread else begin + len(spelt)
            ends[len(ends) - waiting :] = [between] * waiting
            at, waiting, unread = begin + len(spelt), 0, False
        ends.append(at)
    return ends


def _spelt(token: str) -> str:
    byte = BYTE.fullmatch(token)
    if byte is None:
        return token.replace("▁", " ")
    number = int(byte[1], 16)
    return chr(number) if number < 128 else token


def check_given(where: str, advice: str, scored: Callable[[Sequence[str]], list[GivenText]]) -> None:
    """Raise ModelError, in one line with advice, for a server whose ln p are not those of the given texts.

    `where` names it. `scored` gives the tokens of texts, and has checked that they spell the texts.
    """
    permuted = " ".join(PROBE.split()[::-1])
    first, second, longer = scored([f"\n{PROBE}\n", f"\n{permuted}\n", f"\n{PROBE}{MORE}\n"])
    (again,) = scored([f"\n{PROBE}\n"])
    for found in (first, second, longer):
        words = len(PROBE.split())
        if len(found.ends) < words / 2:
            raise ModelError(f"{where}: {len(found.ends)} tokens for a text of {words} words: {advice}")
        if any(map(math.isnan, found.ln_p[2:])):
            raise ModelError(f"{where}: there is no ln p for some tokens of a given text: {advice}")
    if abs(_sum(first) - _sum(second)) < 1e-6:
        raise ModelError(f"{where}: the words of a text in another order have the same ln p, {_sum(first):g}: {advice}")
    if again.ends != first.ends or _difference(first, again, len(first.ends)) > SAME:
        raise ModelError(
            f"{where}: the same text has another ln p when it is scored again: {_sum(first):g}, {_sum(again):g}"
        )
    shared = next((n for n, (a, b) in enumerate(zip(first.ends, longer.ends, strict=False)) if a != b), 0)
    shared = min(shared, sum(end <= len(PROBE) - 1 for end in first.ends))
    if _difference(first, longer, shared) > SAME:
        raise ModelError(f"{where}: ln p of the words of a text changes with the words after it: {advice}")


def _sum(found: GivenText) -> float:
    return sum(value for value in found.ln_p if not math.isnan(value))


def _difference(one: GivenText, other: GivenText, number: int) -> float:
    """The largest difference among the first tokens."""
    pairs = zip(one.ln_p[:number], other.ln_p[:number], strict=True)
    return max((abs(a - b) for a, b in pairs if not (math.isnan(a) or math.isnan(b))), default=0.0)
