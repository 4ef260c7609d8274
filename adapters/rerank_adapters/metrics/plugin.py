"""Registers the metrics of additive sufficient statistics (BLEU, chrF, TER, WER and others), and expected utilities."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_metrics(register: Register) -> None:
    """Register the metrics of this package."""
    from rerank_adapters.metrics.accuracy import Accuracy, SentenceErrorRate
    from rerank_adapters.metrics.bleu import Bleu
    from rerank_adapters.metrics.chrf import ChrF, ChrFPlusPlus
    from rerank_adapters.metrics.column import ColumnMetric
    from rerank_adapters.metrics.edit_rate import CER, WER
    from rerank_adapters.metrics.mean import MeanMetric
    from rerank_adapters.metrics.ter import TER

    register("bleu", Bleu)
    register("chrf", ChrF)
    register("chrf++", ChrFPlusPlus)
    register("ter", TER)
    register("wer", WER)
    register("cer", CER)
    register("accuracy", Accuracy)
    register("ser", SentenceErrorRate)
    register("column", ColumnMetric)
    register("mean", MeanMetric)


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature that is a metric against pseudo-references."""
    from rerank_adapters.metrics.expected_utility import ExpectedUtilityFeature

    register("expected-utility", ExpectedUtilityFeature)
