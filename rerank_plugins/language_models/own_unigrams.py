"""The check that a language model has unigrams of its own."""

from __future__ import annotations

from rerank_plugins.errors import ModelError
from rerank_plugins.interfaces import HasUnigrams, LanguageModel


def with_unigrams(model: LanguageModel) -> HasUnigrams:
    """Return the model if it has unigrams of its own, and raise ModelError otherwise."""
    if not isinstance(model, HasUnigrams):
        raise ModelError(
            f"the language model {type(model).__name__} has no unigrams of its own (the method 'unigram_scores'): "
            "name a unigram model with the option 'unigram'"
        )
    return model
