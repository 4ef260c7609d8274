"""The built-in feature extractors: each turns what a model computes, or the n-best list itself, into values."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this package."""
    from rerank_plugins.features.consensus import ConsensusFeature
    from rerank_plugins.features.decoder_alignment import DecoderAlignmentFeature
    from rerank_plugins.features.decoder_score import DecoderScoreFeature, ReciprocalRankFeature
    from rerank_plugins.features.dependency_agreement import DependencyAgreementFeature
    from rerank_plugins.features.dependency_lm import DependencyFeature
    from rerank_plugins.features.edit_to_1best import EditToFirstFeature
    from rerank_plugins.features.grammar_violations import GrammarViolationsFeature
    from rerank_plugins.features.hhmm_lm import HhmmFeature
    from rerank_plugins.features.joint_lm import JointLMFeature
    from rerank_plugins.features.language_model_ratio import LanguageModelRatioFeature
    from rerank_plugins.features.length import CharacterLengthFeature, LengthFeature, WordPenaltyFeature
    from rerank_plugins.features.lexical_overlap import LexicalOverlapFeature
    from rerank_plugins.features.ngram_lm import NgramFeature
    from rerank_plugins.features.oov_count import OovCountFeature
    from rerank_plugins.features.random_indexing import RandomIndexingFeature
    from rerank_plugins.features.rank import RankFeature
    from rerank_plugins.features.referential_lm import ReferentialFeature
    from rerank_plugins.features.slr import SlrFeature
    from rerank_plugins.features.substitutes import SubstitutesFeature
    from rerank_plugins.features.svs_similarity import SvsSimilarityFeature
    from rerank_plugins.features.translation_memory import TranslationMemoryFeature
    from rerank_plugins.features.treelet_lm import TreeletFeature
    from rerank_plugins.features.unigram import UnigramFeature
    from rerank_plugins.features.untranslated import UntranslatedFeature
    from rerank_plugins.features.word_lexicon import WordLexiconFeature
    from rerank_plugins.features.word_posteriors import WordPosteriorsFeature
    from rerank_plugins.features.word_translation import WordTranslationFeature

    register("length", LengthFeature)
    register("word-penalty", WordPenaltyFeature)
    register("character-length", CharacterLengthFeature)
    register("decoder-score", DecoderScoreFeature)
    register("reciprocal-rank", ReciprocalRankFeature)
    register("rank", RankFeature)
    register("edit-to-1best", EditToFirstFeature)
    register("oov-count", OovCountFeature)
    register("unigram", UnigramFeature)
    register("ngram-lm", NgramFeature)
    register("language-model-ratio", LanguageModelRatioFeature)
    register("dependency-lm", DependencyFeature)
    register("hhmm-lm", HhmmFeature)
    register("treelet-lm", TreeletFeature)
    register("slr", SlrFeature)
    register("grammar-violations", GrammarViolationsFeature)
    register("lexical-overlap", LexicalOverlapFeature)
    register("untranslated", UntranslatedFeature)
    register("dependency-agreement", DependencyAgreementFeature)
    register("word-translation", WordTranslationFeature)
    register("translation-memory", TranslationMemoryFeature)
    register("decoder-alignment", DecoderAlignmentFeature)
    register("word-lexicon", WordLexiconFeature)
    register("joint-lm", JointLMFeature)
    register("consensus", ConsensusFeature)
    register("random-indexing", RandomIndexingFeature)
    register("svs-similarity", SvsSimilarityFeature)
    register("word-posteriors", WordPosteriorsFeature)
    register("substitutes", SubstitutesFeature)
    register("referential-lm", ReferentialFeature)
