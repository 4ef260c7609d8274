"""The plugins of the family `translation`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.translation.alignment.feature import DecoderAlignmentFeature, WordTranslationFeature
    from rerank_plugins.translation.copied_words import LexicalOverlapFeature, UntranslatedFeature
    from rerank_plugins.translation.dependency_agreement import DependencyAgreementFeature
    from rerank_plugins.translation.model_features import JointLMFeature, TranslationMemoryFeature, WordLexiconFeature

    register("lexical-overlap", LexicalOverlapFeature)
    register("untranslated", UntranslatedFeature)
    register("dependency-agreement", DependencyAgreementFeature)
    register("word-translation", WordTranslationFeature)
    register("translation-memory", TranslationMemoryFeature)
    register("decoder-alignment", DecoderAlignmentFeature)
    register("word-lexicon", WordLexiconFeature)
    register("joint-lm", JointLMFeature)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.translation.trainers import (
        JointLMTrainer,
        TranslationMemoryTrainer,
        WordAlignmentTrainer,
        WordLexiconTrainer,
    )

    register("word-alignment", WordAlignmentTrainer)
    register("word-lexicon", WordLexiconTrainer)
    register("joint-lm", JointLMTrainer)
    register("translation-memory", TranslationMemoryTrainer)
