"""The file formats of n-best lists, reference files, compression and merging."""

from rerank_plugins.core.hookspecs import Register, hookimpl


@hookimpl
def register_nbest_formats(register: Register) -> None:
    """Register the formats of the decoders and recognisers that are supported."""
    from rerank_adapters.formats.automatic import AutoFormat
    from rerank_adapters.formats.dialects import CdecFormat, JoshuaFormat, MarianFormat, MosesFormat, TravatarFormat
    from rerank_adapters.formats.fairseq import FairseqFormat
    from rerank_adapters.formats.hyporadise import HyporadiseFormat
    from rerank_adapters.formats.lattices.htk_slf import HtkSlfFormat
    from rerank_adapters.formats.lattices.kaldi_lattice import KaldiLatticeFormat
    from rerank_adapters.formats.speech.alternatives import AlternativesFormat
    from rerank_adapters.formats.speech.espnet import EspnetFormat
    from rerank_adapters.formats.speech.htk_mlf import HtkMlfFormat
    from rerank_adapters.formats.speech.icefall import IcefallFormat
    from rerank_adapters.formats.speech.julius import JuliusFormat
    from rerank_adapters.formats.speech.kaldi import KaldiFormat
    from rerank_adapters.formats.speech.nemo import NemoFormat
    from rerank_adapters.formats.speech.pyctcdecode import PyctcdecodeFormat
    from rerank_adapters.formats.speech.srilm import SrilmFormat
    from rerank_adapters.formats.speech.wenet import WenetFormat
    from rerank_adapters.formats.speech.whisper import WhisperFormat
    from rerank_adapters.formats.translation.ctranslate2 import Ctranslate2Format
    from rerank_adapters.formats.translation.plain import PlainFormat
    from rerank_adapters.formats.translation.sockeye import SockeyeFormat
    from rerank_adapters.formats.translation.transformers import TransformersFormat

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
