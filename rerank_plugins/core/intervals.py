"""Intervals of numbers, as options write them: `[1, 6]`, `(0, ]`."""

from __future__ import annotations

import re
from typing import NamedTuple

from rerank_plugins.core.errors import PluginError

WRITTEN = re.compile(r"([\[(])\s*([^,\s]*)\s*,\s*([^,\s]*)\s*([\])])")


class Interval(NamedTuple):
    """The numbers from `low` to `high`; None where there is no end. An open end is not one of them."""

    low: float | None
    high: float | None
    low_open: bool
    high_open: bool

    @classmethod
    def parse(cls, text: str) -> Interval:
        """The interval that is written so. Raises PluginError.

        >>> 6 in Interval.parse("[1, 6]"), 0 in Interval.parse("(0, ]"), 10**9 in Interval.parse("(0, ]")
        (True, False, True)
        """
        match = WRITTEN.fullmatch(text)
        if match is None:
            raise PluginError(f"an option lies within {text!r}: wanted an interval such as '[1, 6]'")
        opening, low, high, closing = match.groups()
        least, most = (float(end) if end else None for end in (low, high))
        return cls(least, most, opening == "(" and bool(low), closing == ")" and bool(high))

    def __contains__(self, number: object) -> bool:
        """Whether the number lies within."""
        assert isinstance(number, int | float)
        above = self.low is None or (number > self.low if self.low_open else number >= self.low)
        return above and (self.high is None or (number < self.high if self.high_open else number <= self.high))
