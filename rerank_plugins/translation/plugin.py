"""The plugins of the family `translation`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("lexical-overlap", "rerank_plugins.translation.copied_words:LexicalOverlapFeature")
    register("untranslated", "rerank_plugins.translation.copied_words:UntranslatedFeature")
    register("word-translation", "rerank_plugins.translation.alignment.feature:WordTranslationFeature")
    register("translation-memory", "rerank_plugins.translation.model_features:TranslationMemoryFeature")
    register("word-lexicon", "rerank_plugins.translation.model_features:WordLexiconFeature")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("word-alignment", "rerank_plugins.translation.trainers:WordAlignmentTrainer")
    register("word-lexicon", "rerank_plugins.translation.trainers:WordLexiconTrainer")
    register("translation-memory", "rerank_plugins.translation.trainers:TranslationMemoryTrainer")
