"""The plugins of the family `constituency`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.constituency.language_model import PcfgLanguageModel

    register("pcfg", PcfgLanguageModel)


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    from rerank_plugins.constituency.parser import PcfgParser

    register("pcfg", PcfgParser)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.constituency.trainer import GrammarTrainer

    register("grammar", GrammarTrainer)
