"""Features that read files of the user's in the forms of `formats`, which the core does not know."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_feature_extractors(register: Register) -> None:
    """Register the features of this package."""
    from rerank_adapters.features.column import ColumnFeature

    register("column", ColumnFeature)
