"""The plugins of the family `lists`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("length", "rerank_plugins.lists.length:LengthFeature")
    register("character-length", "rerank_plugins.lists.length:CharacterLengthFeature")
    register("decoder-score", "rerank_plugins.lists.decoder_order:DecoderScoreFeature")
    register("reciprocal-rank", "rerank_plugins.lists.decoder_order:ReciprocalRankFeature")
    register("consensus", "rerank_plugins.lists.consensus:ConsensusFeature")
    register("word-posteriors", "rerank_plugins.lists.consensus:WordPosteriorsFeature")
    register("column", "rerank_plugins.lists.column:ColumnFeature")
