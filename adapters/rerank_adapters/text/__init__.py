"""Text pipelines, which convert texts between the tokenisations of decoders, references and language models."""

from rerank_adapters.text.diagnostics import HIGH, looks_like, unknown_rate, vocabulary_warnings
from rerank_adapters.text.steps import TextPipeline, is_step

__all__ = ["HIGH", "TextPipeline", "is_step", "looks_like", "unknown_rate", "vocabulary_warnings"]
