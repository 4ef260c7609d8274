"""Tuning: prepares data and start weights, runs tuners and compares them."""

from rerank_adapters.chain.tuning.choices import chosen_rows, held_out_score
from rerank_adapters.chain.tuning.cross_validation import CrossValidation, CrossValidationRow, cross_validate
from rerank_adapters.chain.tuning.data import prepare, take_features, take_segments
from rerank_adapters.chain.tuning.runs import record, tune
from rerank_adapters.chain.tuning.start_weights import start_vector

__all__ = [
    "CrossValidation",
    "CrossValidationRow",
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
