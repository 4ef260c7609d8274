"""Properties of n-best lists, recorded for the lists that weights were tuned on and compared with those of others.

Three facts tell lists of another decoder, or of other speech or text, before their references are known: the number of
distinct hypotheses in a list, the spread of each feature (its standard deviation within lists, pooled over all lists),
and the proportion of the 1-bests that the weights replace. They are sums over lists, so that lists may be read one by
one in bounded memory.

A fact differs where it does so by a large factor and by many standard errors. A spread squared is a ratio of two sums
over lists, squares and hypotheses, whose standard error is that of ratio estimators (Cochran 1977, section 2.11). Some
features vary in few lists only, and then one list can make a spread; therefore the larger one of the two relative
deviations from list to list is taken for both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from rerank_adapters.runtime.progress import counted
from rerank_plugins import FeatureTable, FloatArray, NBestList

TUNING_LISTS = "tuning_lists"  # the key of a provenance
MIN_LISTS = 100  # lists that are judged
MIN_ERRORS = 6.0  # standard errors that a fact must differ by
MIN_FACTOR, MIN_FACTOR_OF_CHANGES = 1.2, 1.5  # by which spreads and sizes, and proportions of changes, must differ
MIN_DEVIATION = 0.1  # of the sizes of lists, as a part of their mean: in some sets all sizes are equal
MAX_NAMED = 3  # features that a warning names


class ListFacts:
    """Sums over lists, to which lists are added one by one. Sparse features are left out."""

    def __init__(self) -> None:
        self.lists = self.changed = 0
        self.names: tuple[str, ...] = ()
        self._sizes = np.zeros((2, 2))  # of the hypotheses of a list, and of its distinct ones: their sum, of squares
        self._spreads = np.zeros((3, 0))  # by feature, of the squares s of a list: s, s², s · its number of hypotheses

    def add(self, nbest: NBestList, names: tuple[str, ...], values: FloatArray, *, changed: bool = False) -> None:
        """Add a list with the values (hypotheses, features) of its features.

        The features of the first list count, and one that a later list lacks is constant there. `changed` is whether
        the weights replace the 1-best of the list.
        """
        if not self.names:
            self.names, self._spreads = names, np.zeros((3, len(names)))
        squares = np.square(values - values.mean(axis=0)).sum(axis=0)
        if names != self.names:
            by_name = dict(zip(names, squares.tolist(), strict=True))
            squares = np.array([by_name.get(name, 0.0) for name in self.names])
        sizes = np.array([len(values), len(set(nbest.texts))])
        self._spreads += squares, squares**2, squares * len(values)
        self._sizes += np.column_stack([sizes, sizes**2])
        self.lists += 1
        self.changed += changed

    @classmethod
    def of(cls, lists: Sequence[NBestList], table: FeatureTable) -> ListFacts:
        """The facts of lists with their table of features."""
        facts = cls()
        for nbest, (begin, end) in zip(lists, pairwise(table.offsets.tolist()), strict=True):
            facts.add(nbest, table.names, table.values[begin:end])
        return facts

    def spreads(self) -> tuple[FloatArray, FloatArray]:
        """(features) the spreads, and the deviations from list to list of their squares, as parts of these."""
        (squares, squared, with_sizes), (hypotheses, hypotheses_squared) = self._spreads, self._sizes[0]
        ratio = squares / max(hypotheses, 1)
        residuals = squared - 2 * ratio * with_sizes + ratio**2 * hypotheses_squared
        relative = np.sqrt(np.maximum(residuals, 0.0) * self.lists) / np.where(squares > 0, squares, np.inf)
        return np.sqrt(ratio), relative

    def sizes(self) -> tuple[float, float]:
        """The mean number of distinct hypotheses in a list, and its standard deviation from list to list."""
        mean, squares = (self._sizes[1] / self.lists).tolist()
        return mean, max(float(np.sqrt(max(squares - mean**2, 0.0))), MIN_DEVIATION * mean)

    def for_provenance(self, changed: float | None) -> dict[str, Any]:
        """The facts in plain values; `changed` is the proportion of 1-bests replaced on held-out lists, if known."""
        spreads, relative = self.spreads()
        return {
            "lists": self.lists,
            "distinct": [*self.sizes()],
            **({} if changed is None else {"changed": changed}),
            "spread": dict(zip(self.names, spreads.tolist(), strict=True)),
            "spread_deviation": dict(zip(self.names, relative.tolist(), strict=True)),
        }


def differences(recorded: Mapping[str, Any], facts: ListFacts) -> list[str]:
    """The differences of `facts` from the record of the tuning lists, in words; empty for too few lists to judge."""
    if facts.lists < MIN_LISTS:
        return []
    parts = 1 / int(recorded["lists"]) + 1 / facts.lists
    found = []
    (mean, deviation), (own, own_deviation) = recorded["distinct"], facts.sizes()
    if _far(own, mean, MIN_FACTOR) and abs(own - mean) > MIN_ERRORS * max(deviation, own_deviation) * np.sqrt(parts):
        found.append(f"{own:.3g} distinct hypotheses a list ({mean:.3g} in tuning)")
    if "changed" in recorded:
        changed, own = float(recorded["changed"]), facts.changed / facts.lists
        whole = (changed * recorded["lists"] + facts.changed) / (recorded["lists"] + facts.lists)
        error = np.sqrt(whole * (1 - whole) * parts)
        if _far(own, changed, MIN_FACTOR_OF_CHANGES) and abs(own - changed) > MIN_ERRORS * error:
            found.append(f"{100 * own:.2g} % of the 1-bests changed ({100 * changed:.2g} % on held-out tuning lists)")
    rows = []
    for name, own, relative in zip(facts.names, *(values.tolist() for values in facts.spreads()), strict=True):
        spread = recorded["spread"].get(name)
        if spread and _far(own, spread, MIN_FACTOR):
            deviation = max(relative, recorded["spread_deviation"][name])
            errors = abs((own / spread) ** 2 - 1) / (deviation * np.sqrt(parts)) if deviation else np.inf
            if errors > MIN_ERRORS:
                rows.append((errors, f"{name} spreads by {own:.3g} within lists ({spread:.3g})"))
    rows.sort(key=lambda row: -row[0])
    more = [f"and {counted(len(rows) - MAX_NAMED, 'more feature')}"] if len(rows) > MAX_NAMED else []
    return [*found, *(text for _, text in rows[:MAX_NAMED]), *more]


def _far(value: float, other: float, factor: float) -> bool:
    """Whether one is larger than the other by the factor or more."""
    return max(value, other) >= factor * min(value, other) and value != other


def unlike_tuning(provenance: Mapping[str, Any], facts: ListFacts) -> str | None:
    """A sentence on lists that differ from those that the weights were tuned on; None where they do not.

    None also where the provenance of the weights records nothing, or something that was edited by hand.
    """
    with suppress(LookupError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        if TUNING_LISTS in provenance and (found := differences(provenance[TUNING_LISTS], facts)):
            return (
                f"these lists differ from the ones the weights were tuned on: {', '.join(found)}; tune on lists of "
                "this kind, or evaluate the new 1-bests on some that have references"
            )
    return None
