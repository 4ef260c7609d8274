"""Text pipelines, which convert texts between the tokenisations of decoders, references and language models."""

from rerank_adapters.text.diagnostics import (
    HIGH_OOV_RATE,
    UnknownWords,
    by_remedy,
    looks_like,
    unknown_rate,
    unknown_words,
)
from rerank_adapters.text.pipeline import KINDS, TextPipeline, in_language, is_step, split_steps
from rerank_adapters.text.styles import steps_between, steps_towards, style_of, undoing, whole_words

__all__ = [
    "HIGH_OOV_RATE",
    "KINDS",
    "TextPipeline",
    "UnknownWords",
    "by_remedy",
    "in_language",
    "is_step",
    "looks_like",
    "split_steps",
    "steps_between",
    "steps_towards",
    "style_of",
    "undoing",
    "unknown_rate",
    "unknown_words",
    "whole_words",
]
