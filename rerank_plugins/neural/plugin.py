"""The plugins of the family `neural`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("neural-causal", "rerank_plugins.neural.language_models:CausalLanguageModel")
    register("neural-masked", "rerank_plugins.neural.language_models:MaskedLanguageModel")
    register("llm", "rerank_plugins.neural.llm:ServerLanguageModel")


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("neural-translation", "rerank_plugins.neural.translation_feature:NeuralTranslationFeature")
    register("comet", "rerank_plugins.neural.comet_feature:CometFeature")


@hookimpl
def register_metrics(register: Register) -> None:
    """Register the metrics of this family."""
    register("comet", "rerank_plugins.neural.comet_metric:CometMetric")
