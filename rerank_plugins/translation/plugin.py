"""The plugins of the family `translation`."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.translation.alignment.feature import WordTranslationFeature
    from rerank_plugins.translation.decoder_alignment import DecoderAlignmentFeature
    from rerank_plugins.translation.joint_model.feature import JointLMFeature
    from rerank_plugins.translation.lexical_overlap import LexicalOverlapFeature
    from rerank_plugins.translation.lexicon.feature import WordLexiconFeature
    from rerank_plugins.translation.memory.feature import TranslationMemoryFeature
    from rerank_plugins.translation.projection.feature import DependencyAgreementFeature
    from rerank_plugins.translation.untranslated import UntranslatedFeature

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
    from rerank_plugins.translation.alignment.trainer import WordAlignmentTrainer
    from rerank_plugins.translation.joint_model.trainer import JointLMTrainer
    from rerank_plugins.translation.lexicon.trainer import WordLexiconTrainer
    from rerank_plugins.translation.memory.trainer import TranslationMemoryTrainer

    register("word-alignment", WordAlignmentTrainer)
    register("word-lexicon", WordLexiconTrainer)
    register("joint-lm", JointLMTrainer)
    register("translation-memory", TranslationMemoryTrainer)
