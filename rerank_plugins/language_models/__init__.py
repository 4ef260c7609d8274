"""The built-in language models: each wraps an algorithm of `models`, and some of them a parser too."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this package."""
    from rerank_plugins.language_models.headlex import HeadlexLanguageModel
    from rerank_plugins.language_models.hhmm import HhmmLanguageModel
    from rerank_plugins.language_models.kenlm_wrapper import KenlmLanguageModel
    from rerank_plugins.language_models.mixture import MixtureLanguageModel
    from rerank_plugins.language_models.ngram import NgramLanguageModel
    from rerank_plugins.language_models.pcfg import PcfgLanguageModel
    from rerank_plugins.language_models.referential import ReferentialLanguageModel
    from rerank_plugins.language_models.treelet import TreeletLanguageModel
    from rerank_plugins.language_models.unigram import UnigramLanguageModel

    register("kenlm", KenlmLanguageModel)
    register("ngram", NgramLanguageModel)
    register("mixture", MixtureLanguageModel)
    register("pcfg", PcfgLanguageModel)
    register("unigram", UnigramLanguageModel)
    register("hhmm", HhmmLanguageModel)
    register("treelet-lm", TreeletLanguageModel)
    register("headlex", HeadlexLanguageModel)
    register("referential", ReferentialLanguageModel)
