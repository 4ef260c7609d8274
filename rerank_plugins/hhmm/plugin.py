"""The plugins of the family `hhmm`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.hhmm.language_model import HhmmLanguageModel

    register("hhmm-lm", HhmmLanguageModel, former=("hhmm",))


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    from rerank_plugins.hhmm.parser import HhmmParser

    register("hhmm", HhmmParser)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.hhmm.trainer import HhmmTrainer

    register("hhmm", HhmmTrainer)
