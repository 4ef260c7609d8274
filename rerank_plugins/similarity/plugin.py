"""The plugins of the family `similarity`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.similarity.feature import RandomIndexingFeature, SvsSimilarityFeature

    register("random-indexing", RandomIndexingFeature)
    register("svs-similarity", SvsSimilarityFeature)


@hookimpl
def register_metrics(register: Register) -> None:
    """Register the metrics of this family."""
    from rerank_plugins.similarity.meaning_metric import MeaningMetric

    register("meaning", MeaningMetric)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.similarity.trainers import EsaTrainer, RandomIndexingTrainer

    register("random-indexing", RandomIndexingTrainer)
    register("esa", EsaTrainer)
