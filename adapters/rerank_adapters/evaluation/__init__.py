"""Compares systems: corpus scores, significance tests, oracles, and single segments."""

from rerank_adapters.evaluation.compare import SegmentFacts, evaluate
from rerank_adapters.evaluation.comparisons import Comparison, Resampling
from rerank_adapters.evaluation.oracle import oracle
from rerank_adapters.evaluation.result import Evaluation, most_changed
from rerank_adapters.evaluation.significance import Interval

__all__ = [
    "Comparison",
    "Evaluation",
    "Interval",
    "Resampling",
    "SegmentFacts",
    "evaluate",
    "most_changed",
    "oracle",
]
