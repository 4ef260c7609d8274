"""Compares systems: corpus scores, significance tests, oracles, and single segments."""

from rerank_adapters.evaluation.compare import SegmentFacts, compare, evaluate, reference_lengths
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.evaluation.result import Comparison, Evaluation, most_changed
from rerank_adapters.evaluation.samples import Resampling, system_statistics
from rerank_adapters.evaluation.significance import Interval

__all__ = [
    "Comparison",
    "Evaluation",
    "Interval",
    "Resampling",
    "SegmentFacts",
    "compare",
    "evaluate",
    "most_changed",
    "oracle",
    "reference_lengths",
    "system_statistics",
]
