"""The plugins of the family `hhmm`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("hhmm-lm", "rerank_plugins.hhmm.language_model:HhmmLanguageModel")


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    register("hhmm", "rerank_plugins.hhmm.parser:HhmmParser")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("hhmm", "rerank_plugins.hhmm.trainer:HhmmTrainer")
