"""Text pipelines, which convert texts between the tokenisations of decoders, references and language models."""

from rerank_adapters.text.diagnostics import HIGH, looks_like, unknown_rate, vocabulary_warnings
from rerank_adapters.text.pipeline import TextPipeline, split_steps
from rerank_adapters.text.steps import KINDS, in_language, is_step

__all__ = [
    "HIGH", "KINDS", "TextPipeline", "in_language", "is_step", "looks_like", "split_steps", "unknown_rate",
    "vocabulary_warnings",
]  # fmt: skip
