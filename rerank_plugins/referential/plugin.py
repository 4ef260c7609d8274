"""The plugins of the family `referential`."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.referential.feature import ReferentialFeature

    register("referential-lm", ReferentialFeature)


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.referential.language_model import ReferentialLanguageModel

    register("referential", ReferentialLanguageModel)
