"""The plugins of the family `svs`."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this family."""
    from rerank_plugins.svs.parser import VectorParser

    register("svs", VectorParser)
