"""File formats of n-best lists, with reference files, compression and merging."""

from rerank_plugins.hookspecs import Register, hookimpl


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported."""
    from rerank_adapters.formats.dialects import CdecFormat, JoshuaFormat, MarianFormat, MosesFormat, TravatarFormat
    from rerank_adapters.formats.fairseq import FairseqFormat
    from rerank_adapters.formats.hyporadise import HyporadiseFormat

    register("moses", MosesFormat)
    register("cdec", CdecFormat)
    register("joshua", JoshuaFormat)
    register("travatar", TravatarFormat)
    register("marian", MarianFormat)
    register("fairseq", FairseqFormat)
    register("hyporadise", HyporadiseFormat)
