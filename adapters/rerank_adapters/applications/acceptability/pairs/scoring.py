"""Scores minimal pairs by reranking: a pair is a list of two sentences, and a feature prefers the higher one.

Each column of the feature table is a system that judges alone; a weighted sum of all columns is one more system.
"""

from __future__ import annotations

from collections.abc import Sequence

from rerank_adapters.applications.acceptability.pairs.preferences import Preferences
from rerank_adapters.applications.acceptability.sentence_features import sentence_table
from rerank_adapters.chain.job import Job
from rerank_adapters.formats.pairs import Pair
from rerank_adapters.text import TextPipeline
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable


def pair_table(job: Job, pairs: Sequence[Pair], text: TextPipeline, columns: Sequence[str] = ()) -> FeatureTable:
    """The features of all pairs: rows 2i and 2i + 1 are the good and the bad sentence of pair i.

    `columns` and errors are as in `sentence_table`.
    """
    return sentence_table(job, [pair.nbest() for pair in pairs], text, columns)


def single_preferences(table: FeatureTable) -> list[Preferences]:
    """A system for each column whose values differ in some pair. Raises ConfigError where there is none."""
    good, bad = table.values[::2], table.values[1::2]
    systems = [Preferences.of_scores(name, good[:, i], bad[:, i]) for i, name in enumerate(table.names)]
    deciding = [system for system in systems if system.ties < len(system.credit)]
    if not deciding:
        raise ConfigError("no feature gives the sentences of any pair different values")
    return deciding


def weighted_preferences(table: FeatureTable, weights: Weights) -> Preferences:
    """The system of all columns together. Raises ConfigError where the weights belong to other features."""
    scores = table.values @ weights.vector_for(table)
    return Preferences.of_scores("weighted", scores[::2], scores[1::2])
