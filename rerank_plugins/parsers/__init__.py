"""The built-in parsers, and the cache of parses."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_parsers(register: Register) -> None:
    """Register the parsers of this package."""
    from rerank_plugins.parsers.biaffine_parser import BiaffineParser, EnglishParser
    from rerank_plugins.parsers.hhmm_parser import HhmmParser
    from rerank_plugins.parsers.pcfg_parser import PcfgParser
    from rerank_plugins.parsers.stanza_parser import StanzaParser
    from rerank_plugins.parsers.svs_parser import VectorParser
    from rerank_plugins.parsers.treebank import TreebankParser
    from rerank_plugins.parsers.udpipe import UdpipeParser

    register("english", EnglishParser)
    register("biaffine", BiaffineParser)
    register("udpipe", UdpipeParser)
    register("pcfg", PcfgParser)
    register("hhmm", HhmmParser)
    register("svs", VectorParser)
    register("stanza", StanzaParser)
    register("treebank", TreebankParser)
