"""The plugins of the family `ngram`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.ngram.features import LanguageModelRatioFeature, OovCountFeature

    register("oov-count", OovCountFeature)
    register("language-model-ratio", LanguageModelRatioFeature)


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    from rerank_plugins.ngram.language_model import NgramLanguageModel
    from rerank_plugins.ngram.mixture import MixtureLanguageModel
    from rerank_plugins.ngram.unigram_model import UnigramLanguageModel

    register("ngram-lm", NgramLanguageModel, former=("ngram", "kenlm"))
    register("mixture", MixtureLanguageModel)
    register("unigram", UnigramLanguageModel)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.ngram.trainer import NgramTrainer
    from rerank_plugins.ngram.word_classes import WordClassesTrainer

    register("ngram", NgramTrainer)
    register("word-classes", WordClassesTrainer)
