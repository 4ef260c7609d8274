"""Language models that have unigrams of their own."""

from __future__ import annotations

from rerank_plugins.errors import ModelError
from rerank_plugins.interfaces import HasUnigrams, LanguageModel


def with_unigrams(model: LanguageModel) -> HasUnigrams:
    """The model, which has unigrams of its own. Raises ModelError for one that has none."""
    if not isinstance(model, HasUnigrams):
        raise ModelError(
            f"the language model {type(model).__name__} has no unigrams of its own (the method 'unigram_scores'): "
            "name a model of its words with the option 'unigram'"
        )
    return model
