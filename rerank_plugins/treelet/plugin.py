"""The plugins of the family `treelet`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.treelet.slr import SlrFeature

    register("slr", SlrFeature)


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.treelet.language_model import HeadlexLanguageModel, TreeletLanguageModel

    register("treelet-lm", TreeletLanguageModel)
    register("headlex", HeadlexLanguageModel)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.treelet.trainer import TreeletLMTrainer

    register("treelet-lm", TreeletLMTrainer)
