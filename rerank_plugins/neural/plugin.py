"""The plugins of the family `neural`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.neural.language_models import CausalLanguageModel, MaskedLanguageModel
    from rerank_plugins.neural.llm import ServerLanguageModel

    register("neural-causal", CausalLanguageModel)
    register("neural-masked", MaskedLanguageModel)
    register("llm", ServerLanguageModel)


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.neural.translation_feature import NeuralTranslationFeature

    register("neural-translation", NeuralTranslationFeature)
