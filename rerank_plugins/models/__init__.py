"""Built-in language models."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this package."""
    from rerank_plugins.models.hhmm_model import HhmmModel
    from rerank_plugins.models.kenlm_model import KenlmModel
    from rerank_plugins.models.mixture import Mixture
    from rerank_plugins.models.ngram_model import NgramModel
    from rerank_plugins.models.pcfg_model import PcfgModel
    from rerank_plugins.models.unigram_model import UnigramModel

    register("kenlm", KenlmModel)
    register("ngram", NgramModel)
    register("mixture", Mixture)
    register("pcfg", PcfgModel)
    register("unigram", UnigramModel)
    register("hhmm", HhmmModel)
