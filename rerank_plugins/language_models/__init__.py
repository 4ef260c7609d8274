"""What is registered as a language model: each wraps an algorithm of `models`, some a parser too."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this package."""
    from rerank_plugins.language_models.hhmm import HhmmModel
    from rerank_plugins.language_models.kenlm_wrapper import KenlmModel
    from rerank_plugins.language_models.mixture import Mixture
    from rerank_plugins.language_models.ngram import NgramModel
    from rerank_plugins.language_models.parsed import Headlex, Treelet
    from rerank_plugins.language_models.pcfg import PcfgModel
    from rerank_plugins.language_models.unigram import UnigramModel

    register("kenlm", KenlmModel)
    register("ngram", NgramModel)
    register("mixture", Mixture)
    register("pcfg", PcfgModel)
    register("unigram", UnigramModel)
    register("hhmm", HhmmModel)
    register("treelet-lm", Treelet)
    register("headlex", Headlex)
