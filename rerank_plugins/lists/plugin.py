"""The plugins of the family `lists`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.lists.column import ColumnFeature
    from rerank_plugins.lists.consensus import ConsensusFeature, WordPosteriorsFeature
    from rerank_plugins.lists.decoder_order import (
        DecoderScoreFeature,
        EditToFirstFeature,
        RankFeature,
        ReciprocalRankFeature,
    )
    from rerank_plugins.lists.length import CharacterLengthFeature, LengthFeature, WordPenaltyFeature

    register("length", LengthFeature)
    register("word-penalty", WordPenaltyFeature)
    register("character-length", CharacterLengthFeature)
    register("decoder-score", DecoderScoreFeature)
    register("reciprocal-rank", ReciprocalRankFeature)
    register("rank", RankFeature)
    register("edit-to-1best", EditToFirstFeature)
    register("consensus", ConsensusFeature)
    register("word-posteriors", WordPosteriorsFeature)
    register("column", ColumnFeature)
