"""The plugins of the family `substitutes`."""

from rerank_plugins import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the feature extractors of this family."""
    register("substitutes", "rerank_plugins.substitutes.feature:SubstitutesFeature")
