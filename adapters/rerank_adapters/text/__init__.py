"""Text pipelines: decoders, references and language models rarely share a tokenisation."""

from rerank_adapters.text.pipeline import TextPipeline
from rerank_adapters.text.telltales import looks_like, vocabulary_warnings

__all__ = ["TextPipeline", "looks_like", "vocabulary_warnings"]
