"""Registers the file formats of n-best lists."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported, and the one that finds out which."""
    from rerank_adapters.formats.guessing import AutoFormat
    from rerank_adapters.formats.named_formats import FORMATS

    for name, format_ in {"auto": AutoFormat, **FORMATS}.items():
        register(name, format_)
