"""The plugins of the family `referential`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.referential.language_model import ReferentialLanguageModel

    register("referential-lm", ReferentialLanguageModel, former=("referential",))
