"""Built-in feature extractors: one thin file each over a model or the list itself."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this package."""
    from rerank_plugins.features.consensus import Consensus
    from rerank_plugins.features.decoder_score import DecoderScore, ReciprocalRank
    from rerank_plugins.features.dependency_lm import DependencyLM
    from rerank_plugins.features.hhmm_lm import HhmmLM
    from rerank_plugins.features.length import CharacterLength, Length, WordPenalty
    from rerank_plugins.features.lexical_overlap import LexicalOverlap
    from rerank_plugins.features.ngram_lm import NgramLM
    from rerank_plugins.features.oov_count import OovCount
    from rerank_plugins.features.random_indexing import RandomIndexing
    from rerank_plugins.features.slr import Slr
    from rerank_plugins.features.svs_similarity import SvsSimilarity
    from rerank_plugins.features.treelet_lm import TreeletLM
    from rerank_plugins.features.unigram import Unigram
    from rerank_plugins.features.untranslated import Untranslated

    register("length", Length)
    register("word-penalty", WordPenalty)
    register("character-length", CharacterLength)
    register("decoder-score", DecoderScore)
    register("reciprocal-rank", ReciprocalRank)
    register("oov-count", OovCount)
    register("unigram", Unigram)
    register("ngram-lm", NgramLM)
    register("dependency-lm", DependencyLM)
    register("hhmm-lm", HhmmLM)
    register("treelet-lm", TreeletLM)
    register("slr", Slr)
    register("lexical-overlap", LexicalOverlap)
    register("untranslated", Untranslated)
    register("consensus", Consensus)
    register("random-indexing", RandomIndexing)
    register("svs-similarity", SvsSimilarity)
