"""Features that read the user's files by the readers of `formats`, which the core does not have."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the features of this package."""
    from rerank_adapters.features.column import ColumnFeature

    register("column", ColumnFeature)
