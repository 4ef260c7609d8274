"""The slow twin of the estimates of inflection: dictionaries and recursion, one word at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod

from rerank_plugins.kit.trees.inflection_estimates import CAPPED, ITERATIONS, KAPPA, OPEN

Chain = tuple[tuple[str, ...], ...]
Row = tuple[Chain, ...]


class NaiveEstimates:
    """P(b | o) of chains of observations, from rows with values, and of rows whose value is None by EM."""

    def __init__(self, rows: Sequence[Row], values: Sequence[str | None]) -> None:
        self.values = sorted({value for value in values if value is not None})
        known = [(row, {value: 1.0}) for row, value in zip(rows, values, strict=True) if value is not None]
        unknown = [row for row, value in zip(rows, values, strict=True) if value is None]
        own = self._counted(known)
        self._count(own)
        for _ in range(ITERATIONS):
            found = self._counted([(row, self.posterior(row)) for row in unknown])
            together = {chain: dict(counts) for chain, counts in own.items()}
            for chain, counts in found.items():
                share = min(1.0, OPEN / sum(counts.values()))
                for value, count in counts.items():
                    place = together.setdefault(chain, {})
                    place[value] = place.get(value, 0.0) + share * count
            self._count(together)

    @staticmethod
    def _counted(rows: Sequence[tuple[Row, Mapping[str, float]]]) -> dict[Chain, dict[str, float]]:
        counts: dict[Chain, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for row, weights in rows:
            for chain in (*row, ()):
                for value, weight in weights.items():
                    counts[chain][value] += weight
        return counts

    def _count(self, own: Mapping[Chain, Mapping[str, float]]) -> None:
        chains = {chain[:size] for chain in own for size in range(len(chain) + 1)}

        @cache
        def handed_up(chain: Chain, value: str) -> float:
            """The own count of an observation, with those that more specific ones hand it."""
            below = [other for other in chains if len(other) == len(chain) + 1 and other[:-1] == chain]
            total = own.get(chain, {}).get(value, 0.0)
            for other in below if chain else ():
                size = sum(handed_up(other, each) for each in self.values)
                total += handed_up(other, value) * min(1.0, CAPPED / max(size, CAPPED))
            return total

        @cache
        def p(chain: Chain, value: str) -> float:
            total = sum(handed_up(chain, each) for each in self.values)
            if not chain:
                return (handed_up(chain, value) + 1 / len(self.values)) / (total + 1)
            return (handed_up(chain, value) + KAPPA * p(chain[:-1], value)) / (total + KAPPA)

        def of_kind(chain: Chain, value: str) -> float:
            rows = [counts for other, counts in own.items() if other[:1] == chain[:1]]
            total = sum(sum(counts.values()) for counts in rows)
            return (sum(counts.get(value, 0.0) for counts in rows) + 1 / len(self.values)) / (total + 1)

        self.p, self._of_kind = p, of_kind

    def posterior(self, row: Row) -> dict[str, float]:
        """The distribution of a word."""
        place, *others = row
        scores = {
            value: self.p(place, value) * prod(self.p(each, value) / self._of_kind(each, value) for each in others)
            for value in self.values
        }
        return {value: score / sum(scores.values()) for value, score in scores.items()}
