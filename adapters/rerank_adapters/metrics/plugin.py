"""Registers the metrics of additive sufficient statistics (BLEU, chrF, TER, WER and others)."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_metrics(register: Register) -> None:
    """Register the metrics of this package."""
    register("bleu", "rerank_adapters.metrics.bleu:Bleu")
    register("chrf", "rerank_adapters.metrics.chrf:ChrF")
    register("chrf++", "rerank_adapters.metrics.chrf:ChrFPlusPlus")
    register("ter", "rerank_adapters.metrics.ter:TER")
    register("wer", "rerank_adapters.metrics.edit_rate:WER")
    register("cer", "rerank_adapters.metrics.edit_rate:CER")
    register("accuracy", "rerank_adapters.metrics.accuracy:Accuracy")
    register("ser", "rerank_adapters.metrics.accuracy:SentenceErrorRate")
    register("column", "rerank_adapters.metrics.column:ColumnMetric")
    register("mean", "rerank_adapters.metrics.mean:MeanMetric")
