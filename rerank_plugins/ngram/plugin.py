"""The plugins of the family `ngram`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("oov-count", "rerank_plugins.ngram.features:OovCountFeature")
    register("language-model-ratio", "rerank_plugins.ngram.features:LanguageModelRatioFeature")


@hookimpl
def register_language_models(register: Register) -> None:
    """Register the language models of this family."""
    register("ngram-lm", "rerank_plugins.ngram.language_model:NgramLanguageModel")
    register("mixture", "rerank_plugins.ngram.mixture:MixtureLanguageModel")
    register("unigram", "rerank_plugins.ngram.unigram_model:UnigramLanguageModel")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("ngram", "rerank_plugins.ngram.trainer:NgramTrainer")
    register("word-classes", "rerank_plugins.ngram.word_classes:WordClassesTrainer")
