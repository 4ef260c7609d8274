"""Checks that a language model has what a use needs: probabilities of words, or unigrams of its own."""

from __future__ import annotations

from rerank_plugins.core.errors import ConfigError, ModelError
from rerank_plugins.core.interfaces import HasUnigrams, LanguageModel, SentenceModel


def with_words(model: SentenceModel, where: str) -> LanguageModel:
    """Return the model if it gives probabilities to words, and raise ConfigError, which begins with `where`, if not."""
    if not isinstance(model, LanguageModel):
        raise ConfigError(
            f"{where}: the model gives no probabilities of single words, only of whole sentences; wanted a language "
            "model of words, such as ngram-lm, hhmm-lm or pcfg"
        )
    return model


def with_unigrams(model: SentenceModel) -> HasUnigrams:
    """Return the model if it has unigrams of its own, and raise ModelError otherwise."""
    if not isinstance(model, HasUnigrams):
        raise ModelError(
            f"the language model {type(model).__name__} has no unigrams of its own (the method 'unigram_scores'): "
            "name a unigram model with the option 'unigram'"
        )
    return model
