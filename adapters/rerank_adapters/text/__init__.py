"""Text pipelines, which convert texts between the tokenisations of decoders, references and language models."""

from rerank_adapters.text.diagnostics import looks_like, vocabulary_warnings
from rerank_adapters.text.pipeline import TextPipeline

__all__ = ["TextPipeline", "looks_like", "vocabulary_warnings"]
