"""The plugins of the family `similarity`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("random-indexing", "rerank_plugins.similarity.feature:RandomIndexingFeature")
    register("svs-similarity", "rerank_plugins.similarity.feature:SvsSimilarityFeature")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("random-indexing", "rerank_plugins.similarity.trainers:RandomIndexingTrainer")
    register("esa", "rerank_plugins.similarity.trainers:EsaTrainer")
