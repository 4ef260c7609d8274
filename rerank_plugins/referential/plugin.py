"""The plugins of the family `referential`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("referential-lm", "rerank_plugins.referential.language_model:ReferentialLanguageModel")
