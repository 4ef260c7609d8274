"""Built-in parsers."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this package."""
    from rerank_plugins.parsers.treebank import TreebankParser

    register("treebank", TreebankParser)
