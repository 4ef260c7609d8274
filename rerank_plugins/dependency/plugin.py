"""The plugins of the family `dependency`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("dependency-lm", "rerank_plugins.dependency.language_model:DependencyLanguageModel")


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    register("english", "rerank_plugins.dependency.parsers:EnglishParser")
    register("biaffine", "rerank_plugins.dependency.parsers:BiaffineParser")
    register("stanza", "rerank_plugins.dependency.stanza_parser:StanzaParser")
    register("treebank", "rerank_plugins.dependency.parsers:TreebankParser")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("dependency-lm", "rerank_plugins.dependency.trainer:DependencyLMTrainer")
    register("dependency-parser", "rerank_plugins.dependency.trainer:DependencyParserTrainer")
    register("treebank", "rerank_plugins.dependency.parsed_text:TreebankTrainer")
