"""Scores of hypotheses by neural models in a local folder: two language models and two features.

Importing this package loads neither torch nor transformers; they are loaded when a model is first used.
"""

from rerank_neural_lm.features import NeuralFeature, NeuralTranslationFeature
from rerank_neural_lm.language_models import CausalLanguageModel, MaskedLanguageModel
from rerank_plugins import hookimpl


@hookimpl
def register_language_models(register):
    """Register the causal and the masked model."""
    register("neural-causal", CausalLanguageModel)
    register("neural-masked", MaskedLanguageModel)


@hookimpl
def register_feature_extractors(register):
    """Register the sentence score and the score that is conditioned on the source."""
    register("neural-lm", NeuralFeature)
    register("neural-translation", NeuralTranslationFeature)
