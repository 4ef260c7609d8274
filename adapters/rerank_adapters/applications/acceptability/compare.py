"""`compare`: which of two sentences models prefer, the better one or the worse one of a minimal pair.

A model prefers the sentence with the higher score. A tie counts as half a success, the average of
tossing a coin. Two scores tie where they differ by no more than rounding does (1e-9 of their size), since the sum
over the same words in another order is the same score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rerank_adapters.applications.acceptability.text_features import judging_columns
from rerank_adapters.data.given_texts import Text, pairs_of, pipeline_of, shown, words_of
from rerank_adapters.data.minimal_pairs import Pair, read_pairs
from rerank_adapters.evaluation.proportions import McNemar, binomial_p_value, wilson_interval
from rerank_adapters.evaluation.significance import Interval
from rerank_adapters.job.models import load_all
from rerank_adapters.rows import Rows
from rerank_plugins import FeatureTable, Hypothesis, NBestList
from rerank_plugins.core.arrays import BoolArray, FloatArray

ROUNDING = 1e-9
PREFERRED = {1.0: "better", 0.5: "tie", 0.0: "worse"}  # by the credit of a pair

Pairs: TypeAlias = Path | Iterable[tuple[Text, Text] | Pair]


@dataclass(frozen=True, eq=False)
class Preferences:
    """The preferences of a system: `credit` (pairs) is 1 where the good sentence scores higher, ½ at a tie, else 0.

    `margin` (pairs) is the score of the good sentence less that of the bad one.
    """

    system: str
    credit: FloatArray
    margin: FloatArray

    @classmethod
    def of_scores(cls, system: str, good: FloatArray, bad: FloatArray) -> Preferences:
        """The preferences that follow from the scores (pairs) of good and of bad sentences; higher is better."""
        tied = np.isclose(good, bad, rtol=ROUNDING, atol=ROUNDING)
        return cls(system, np.where(tied, 0.5, good > bad), good - bad)

    def among(self, pairs: BoolArray) -> Preferences:
        """The preferences of the same system on the pairs of a mask (pairs)."""
        return Preferences(self.system, self.credit[pairs], self.margin[pairs])

    @property
    def accuracy(self) -> float:
        """The proportion of pairs on which the good sentence is preferred, where ties count half."""
        return float(self.credit.mean())

    @property
    def ties(self) -> int:
        """The number of pairs whose sentences tie."""
        return int(np.sum(self.credit == 0.5))

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the accuracy, where a tie counts as half a success."""
        return wilson_interval(float(self.credit.sum()), len(self.credit))

    def against(self, other: Preferences) -> McNemar:
        """McNemar's exact test over the pairs on which one system does better; a tie lies between right and wrong."""
        ours, theirs = int(np.sum(self.credit > other.credit)), int(np.sum(self.credit < other.credit))
        return McNemar(ours, theirs, binomial_p_value(ours, theirs))


class Compared(Rows):
    """The rows of `compare`, with the preferences of each system."""

    def __init__(self, pairs: Sequence[tuple[str, str]], systems: Sequence[Preferences]) -> None:
        columns: list[Sequence[Any]] = [[better for better, _ in pairs], [worse for _, worse in pairs]]
        names = ["better", "worse"]
        for system in systems:
            names += [system.system, f"{system.system}.preferred"]
            columns += [system.margin.tolist(), [PREFERRED[credit] for credit in system.credit.tolist()]]
        super().__init__(names, zip(*columns, strict=True))
        self.systems = tuple(systems)

    @property
    def accuracies(self) -> Rows:
        """A row for each system: how often it prefers the better sentence, with Wilson's 95 % interval."""
        rows = [(s.system, s.accuracy, *s.interval, len(s.credit), s.ties) for s in self.systems]
        return Rows(["system", "accuracy", "low", "high", "pairs", "ties"], rows)


def compare(
    pairs: Pairs,
    models: Any,
    *,
    columns: str | Sequence[str] | None = None,
    text: str | Sequence[str] = "penn-tokenize",
    jobs: int = 2,
) -> Compared:
    """Which sentence of each minimal pair the models prefer, and by how much.

    The columns are `better` and `worse`, the two sentences; then for each model its name, the score of the better
    sentence less that of the worse one (ln p for a language model), and `name.preferred`: "better", "worse" or "tie".
    `.accuracies` are the rows of a summary.

    `pairs`    pairs (better, worse) of texts or of sequences of words, or a Path: a file of pairs, as BLiMP's or
               `good<TAB>bad`
    `models`   language models or other features, one or many: names, files, objects, or a dict of these by name. A
               feature of several columns has each judge alone, called `name.column`; a language model is judged by its
               `total`
    `columns`  patterns such as "*.per_word": only these columns judge, and language models have all of theirs
    `text`     the text steps of texts; sequences of words are taken as they are
    `jobs`     the number of processes

    Raises TypeError for a value that is no pair, FormatError for a file of another form, and ConfigError for a pattern
    that no column matches.

    >>> rows = compare([("the dog barks", "the dog zygote"), (["a", "b"], ["b", "a"])], "unigram")
    >>> rows
    better         worse           unigram  unigram.preferred
    the dog barks  the dog zygote  3.69438  better
    a b            b a                   0  tie
    >>> rows.accuracies
    system   accuracy       low      high  pairs  ties
    unigram      0.75  0.197867  0.973323      2     1
    """
    extractors = load_all(models, "feature")
    steps = pipeline_of(text)
    given = _given(pairs)
    sentences = [tuple(map(" ".join, words_of(pair, steps, f"pairs[{i}]"))) for i, pair in enumerate(given)]
    nbests = [NBestList(str(i), tuple(map(Hypothesis, pair))) for i, pair in enumerate(sentences)]
    table = judging_columns(extractors, nbests, columns, jobs)
    texts = [(shown(better), shown(worse)) for better, worse in given]
    return Compared(texts, preferences(table))


def preferences(table: FeatureTable) -> list[Preferences]:
    """A system for each column of a table; rows 2i and 2i + 1 are the good and the bad sentence of pair i."""
    good, bad = table.values[::2], table.values[1::2]
    return [Preferences.of_scores(name, good[:, i], bad[:, i]) for i, name in enumerate(table.names)]


def _given(pairs: Pairs) -> list[tuple[Text, Text]]:
    if isinstance(pairs, Path):
        return [(pair.good, pair.bad) for pair in read_pairs(pairs)]
    return pairs_of(pairs)
