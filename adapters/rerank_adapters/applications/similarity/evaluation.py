"""Evaluates a similarity system by the correlation of its scores with human scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.applications.similarity.correlation import Correlation, correlate
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.applications.similarity.scoring import score_pairs
from rerank_adapters.applications.similarity.system import SimilarityModel
from rerank_plugins import FormatError
from rerank_plugins.similarity.measures.table import Measures


@dataclass(frozen=True)
class FileCorrelation:
    """The correlation of the system's scores with the human scores of the pairs of one file."""

    name: str
    correlation: Correlation


def evaluate_similarity(model: SimilarityModel, paths: Sequence[Path], given: Measures) -> list[FileCorrelation]:
    """A result for each file. Raises FormatError for a file without scores."""
    results = []
    for path in paths:
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to compare with", path=pairs.name)
        results.append(FileCorrelation(pairs.name, correlate(score_pairs(model, pairs, given), pairs.scores)))
    return results
