"""The plugins of the family `svs`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("meaning-in-context", "rerank_plugins.svs.meaning_in_context:MeaningInContextFeature")


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    register("svs", "rerank_plugins.svs.parser:VectorParser")


@hookimpl
def register_trainers(register: Register) -> None:
    """Register the trainers of this family."""
    register("svs", "rerank_plugins.svs.trainer:SvsTrainer")
    register("svs-concepts", "rerank_plugins.svs.concept_trainer:ConceptTrainer")
