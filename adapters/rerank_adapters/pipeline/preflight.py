"""Tuning rehearsed on one list: what is wrong with the options is found before the extraction, not after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rerank_adapters.extraction import feature_names
from rerank_adapters.pipeline.job import Data, Job
from rerank_adapters.pipeline.tune import start_weights, tuning_data
from rerank_plugins import ConfigError, FeatureTable


def rehearse(job: Job, data: Data, decoder: FeatureTable) -> None:
    """All that tuning does before the tuner, on the first list alone, with 0 for the features to be extracted.

    `decoder` is the table of the decoder's features. Raises ConfigError for options of metric and tuner, names of
    features (fixed, bounded) and start weights that are wrong, and for data without references.
    """
    if not all(data.references):
        raise ConfigError("the tuning set has no references, and weights are tuned to come close to them")
    job.tuner  # noqa: B018  its options are checked
    table, rows = decoder.take_segments([0])
    names = feature_names(job.extractors)
    values = np.hstack([table.values, np.zeros((len(rows), len(names)))])
    table = replace(table, names=table.names + names, values=values)
    first = Data(data.name, data.nbests[:1], data.references[:1])
    tuning_data(job, first, table)
    if job.config.tuning.start == "decoder":  # found from the totals of all lists, and from the decoder's features
        start_weights(job, data, decoder)
    else:
        start_weights(job, first, table)
