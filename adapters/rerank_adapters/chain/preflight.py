"""Tries tuning on one list, so that wrong options are noticed before the extraction, not after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rerank_adapters.chain.extraction import feature_names
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.tune import start_weights, tuning_data
from rerank_plugins import ConfigError, FeatureTable


def rehearse(job: Job, data: Data, decoder: FeatureTable) -> None:
    """Do all that tuning does before the tuner runs, on the first list alone, with zeros for features still to extract.

    `decoder` is the table of the decoder's features. Raises ConfigError for wrong options of the metric and the tuner,
    for unknown names of fixed or bounded features, for wrong start weights, and for data without references.
    """
    if not all(data.references):
        raise ConfigError("the tuning set has no references, without which weights cannot be tuned")
    job.tuner  # noqa: B018  its options are checked
    table, rows = decoder.take_segments([0])
    names = feature_names(job.extractors)
    values = np.hstack([table.values, np.zeros((len(rows), len(names)))])
    table = replace(table, names=table.names + names, values=values)
    first = Data(data.name, data.nbests[:1], data.references[:1])
    tuning_data(job, first, table)
    if job.config.tuning.start == "decoder":  # estimated from the totals of all lists
        start_weights(job, data, decoder)
    else:
        start_weights(job, first, table)
