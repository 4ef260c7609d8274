"""The plugins of the family `constituency`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("pcfg", "rerank_plugins.constituency.language_model:PcfgLanguageModel")


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    register("pcfg", "rerank_plugins.constituency.parser:PcfgParser")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("grammar", "rerank_plugins.constituency.trainer:GrammarTrainer")
