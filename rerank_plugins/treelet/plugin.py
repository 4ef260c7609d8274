"""The plugins of the family `treelet`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("slr", "rerank_plugins.treelet.slr:SlrFeature")


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("treelet-lm", "rerank_plugins.treelet.language_model:TreeletLanguageModel")
    register("headlex", "rerank_plugins.treelet.language_model:HeadlexLanguageModel")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("treelet-lm", "rerank_plugins.treelet.trainer:TreeletLMTrainer")
