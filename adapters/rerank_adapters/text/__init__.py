"""Text pipelines: decoders, references and language models rarely share a tokenisation."""

from rerank_adapters.text.diagnostics import looks_like, vocabulary_warnings
from rerank_adapters.text.pipeline import TextPipeline

__all__ = ["TextPipeline", "looks_like", "vocabulary_warnings"]
