"""The expected utility of a hypothesis with the hypotheses of other lists as pseudo-references: MBR as a feature.

The value is the mean of utility(hypothesis, sample) over the samples of its segment, an estimate of the expectation
under the model that drew them (Eikema & Aziz 2022). Used alone it chooses by minimum Bayes risk; beside other features
its weight is tuned. Samples may repeat, and each copy counts. Whereas the tuner `mbr` weighs the hypotheses of the same
list by their scores, here the samples have equal weight, and none of them needs to be in the list.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.metrics.bleu import Bleu
from rerank_adapters.metrics.chrf import ChrF
from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FloatArray,
    FormatError,
    Metric,
    NBestList,
    PickledFields,
    option,
)
from rerank_plugins.core.metrics_and_tuners import scores_with_each

PAIRS_AT_ONCE = 100_000  # which bounds the memory


@dataclass
class ExpectedUtilityFeature(PickledFields, FeatureExtractor):
    """Mean BLEU or chrF against samples of a decoder as pseudo-references (Eikema & Aziz 2022): MBR as a feature."""

    samples: Path = option(
        doc="file of lists with pseudo-references of the same segments; `{set}` in it stands for the name of a data set"
    )
    metric: Literal["chrf", "bleu"] = option("chrf", doc="the utility; bleu is sacrebleu's sentence BLEU")
    tokenize: str = option("13a", doc="sacrebleu's tokenizer of bleu; none for text with tokens between spaces")
    utility: Metric | None = option(None, doc="any other metric, such as comet, as the utility")

    @cached_property
    def _metric(self) -> Metric:
        if self.utility is not None:
            return self.utility
        return ChrF() if self.metric == "chrf" else Bleu(self.tokenize, sentence="sacrebleu")

    @cached_property
    def _samples(self) -> dict[str, NBestList]:
        """The pseudo-references by segment; read on first use, in each process."""
        if "{set}" in str(self.samples):
            raise ConfigError(
                f"{self.samples}: it is not known which data set {{set}} stands for: name it by --set NAME"
            )
        return {nbest.segment_id: nbest for nbest in read_nbest([self.samples])}

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, 1) the expected utilities, from 0 to 100 unless `utility` has another scale; higher is better.

        Raises FormatError for a list without samples.
        """
        if not len(nbest):
            return np.zeros((0, 1))
        samples = self._samples.get(nbest.segment_id)
        if samples is None or not len(samples):
            raise FormatError(f"there are no samples for segment {nbest.segment_id}", path=str(self.samples))
        number = Counter(samples.texts)
        references, sums = list(number), np.zeros(len(nbest))
        step = max(1, PAIRS_AT_ONCE // max(1, len(nbest)))
        for begin in range(0, len(references), step):
            some = references[begin : begin + step]
            metric = self._metric.with_sources([nbest.source] * len(some))
            for reference, values in zip(some, scores_with_each(metric, nbest.texts, some), strict=True):
                sums += number[reference] * values
        sign = 1.0 if self._metric.higher_is_better else -1.0
        return (sign * sums / len(samples))[:, None]
