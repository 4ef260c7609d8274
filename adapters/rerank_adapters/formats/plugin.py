"""Registers the file formats of n-best lists."""

from rerank_adapters.formats.catalogue import FORMATS
from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported."""
    for name, row in FORMATS.items():
        register(name, row)
