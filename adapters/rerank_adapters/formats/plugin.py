"""Registers the file formats of n-best lists."""

from rerank_adapters.formats.named_formats import FORMATS, place_of
from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported, and the one that finds out which."""
    register("auto", "rerank_adapters.formats.auto:AutoFormat")
    for name in FORMATS:
        register(name, place_of(name))
