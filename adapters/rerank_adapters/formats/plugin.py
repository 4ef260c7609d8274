"""Registers the file formats of n-best lists."""

from rerank_plugins import hookimpl
from rerank_plugins.core.hookspecs import Register


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported."""
    from rerank_adapters.formats.delimited import CdecFormat, JoshuaFormat, MarianFormat, MosesFormat, TravatarFormat
    from rerank_adapters.formats.fairseq import FairseqFormat
    from rerank_adapters.formats.guessing import AutoFormat
    from rerank_adapters.formats.htk import HtkMlfFormat
    from rerank_adapters.formats.htk_lattices import HtkSlfFormat
    from rerank_adapters.formats.hyporadise import HyporadiseFormat
    from rerank_adapters.formats.julius import JuliusFormat
    from rerank_adapters.formats.kaldi import KaldiFormat, KaldiLatticeFormat
    from rerank_adapters.formats.plain import PlainFormat
    from rerank_adapters.formats.speech_json import AlternativesFormat, PyctcdecodeFormat, WhisperFormat
    from rerank_adapters.formats.speech_toolkits import EspnetFormat, IcefallFormat, NemoFormat, WenetFormat
    from rerank_adapters.formats.srilm import SrilmFormat
    from rerank_adapters.formats.translation_json import Ctranslate2Format, SockeyeFormat, TransformersFormat

    register("auto", AutoFormat)
    register("moses", MosesFormat)
    register("cdec", CdecFormat)
    register("joshua", JoshuaFormat)
    register("travatar", TravatarFormat)
    register("marian", MarianFormat)
    register("fairseq", FairseqFormat)
    register("hyporadise", HyporadiseFormat)
    register("plain", PlainFormat)
    register("sockeye", SockeyeFormat)
    register("ctranslate2", Ctranslate2Format)
    register("transformers", TransformersFormat)
    register("kaldi", KaldiFormat)
    register("srilm", SrilmFormat)
    register("htk-mlf", HtkMlfFormat)
    register("julius", JuliusFormat)
    register("espnet", EspnetFormat)
    register("whisper", WhisperFormat)
    register("nemo", NemoFormat)
    register("icefall", IcefallFormat)
    register("wenet", WenetFormat)
    register("pyctcdecode", PyctcdecodeFormat)
    register("alternatives", AlternativesFormat)
    register("kaldi-lattice", KaldiLatticeFormat)
    register("htk-slf", HtkSlfFormat)
