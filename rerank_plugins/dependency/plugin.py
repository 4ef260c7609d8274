"""The plugins of the family `dependency`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.dependency.language_model import DependencyLanguageModel

    register("dependency-lm", DependencyLanguageModel)


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    from rerank_plugins.dependency.parsers import BiaffineParser, EnglishParser, TreebankParser, UdpipeParser
    from rerank_plugins.dependency.stanza_parser import StanzaParser

    register("english", EnglishParser)
    register("biaffine", BiaffineParser)
    register("udpipe", UdpipeParser)
    register("stanza", StanzaParser)
    register("treebank", TreebankParser)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.dependency.parsed_text import TreebankTrainer
    from rerank_plugins.dependency.trainer import DependencyLMTrainer, DependencyParserTrainer

    register("dependency-lm", DependencyLMTrainer)
    register("dependency-parser", DependencyParserTrainer)
    register("treebank", TreebankTrainer)
