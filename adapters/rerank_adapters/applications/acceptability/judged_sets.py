"""Sets of judged sentences with their features, to which classifiers are fitted and on which they are measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rerank_adapters.applications.acceptability.features import sentence_table
from rerank_adapters.applications.acceptability.judgements import Judgement
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureTable
from rerank_plugins.core.arrays import BoolArray


class JudgedSet(NamedTuple):
    """The features of sentences, a row each, and (sentences) which of them are acceptable."""

    table: FeatureTable
    acceptable: BoolArray


def judged_sets(
    extraction: Extraction, judged: Sequence[Sequence[Judgement]], text: TextPipeline, columns: Sequence[str]
) -> list[JudgedSet]:
    """The features of several sets of judgements, extracted together."""
    every = [judgement for judgements in judged for judgement in judgements]
    table = sentence_table(extraction, [judgement.nbest() for judgement in every], text, columns)
    acceptable = np.array([judgement.acceptable for judgement in every])
    ends = np.cumsum([len(judgements) for judgements in judged])[:-1]
    return [
        JudgedSet(FeatureTable.dense(table.names, values, np.arange(len(values) + 1)), good)
        for values, good in zip(np.split(table.values, ends), np.split(acceptable, ends), strict=True)
    ]
