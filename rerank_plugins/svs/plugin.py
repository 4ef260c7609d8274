"""The plugins of the family `svs`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    from rerank_plugins.svs.meaning_in_context import MeaningInContextFeature

    register("meaning-in-context", MeaningInContextFeature)


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    from rerank_plugins.svs.parser import VectorParser

    register("svs", VectorParser)


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    from rerank_plugins.svs.concept_trainer import ConceptTrainer
    from rerank_plugins.svs.trainer import SvsTrainer

    register("svs", SvsTrainer)
    register("svs-concepts", ConceptTrainer)
