"""Tuning: prepares data and start weights, runs tuners and compares them."""

from rerank_adapters.chain.tuning.cross_validation import CrossValidation, chosen_rows, cross_validate, held_out_score
from rerank_adapters.chain.tuning.data import prepare, start_vector, take_features, take_segments
from rerank_adapters.chain.tuning.runs import record, tune

__all__ = [
    "CrossValidation",
    "chosen_rows",
    "cross_validate",
    "held_out_score",
    "prepare",
    "record",
    "start_vector",
    "take_features",
    "take_segments",
    "tune",
]
