"""The plugins of the family `similarity`."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.similarity.random_indexing_feature import RandomIndexingFeature
    from rerank_plugins.similarity.svs_feature import SvsSimilarityFeature

    register("random-indexing", RandomIndexingFeature)
    register("svs-similarity", SvsSimilarityFeature)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.similarity.esa.trainer import EsaTrainer
    from rerank_plugins.similarity.random_indexing.trainer import RandomIndexingTrainer

    register("random-indexing", RandomIndexingTrainer)
    register("esa", EsaTrainer)
