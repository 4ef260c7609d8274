"""The formats of n-best lists by name: those of the decoders and recognisers that are supported."""

from __future__ import annotations

from rerank_adapters.formats.delimited import CdecFormat, JoshuaFormat, MarianFormat, MosesFormat, TravatarFormat
from rerank_adapters.formats.espnet import EspnetFormat
from rerank_adapters.formats.fairseq import FairseqFormat
from rerank_adapters.formats.htk import HtkMlfFormat
from rerank_adapters.formats.htk_lattices import HtkSlfFormat
from rerank_adapters.formats.hyporadise import HyporadiseFormat
from rerank_adapters.formats.icefall import IcefallFormat
from rerank_adapters.formats.julius import JuliusFormat
from rerank_adapters.formats.kaldi import KaldiFormat, KaldiLatticeFormat
from rerank_adapters.formats.nemo import NemoFormat
from rerank_adapters.formats.plain import PlainFormat
from rerank_adapters.formats.pyctcdecode import PyctcdecodeFormat
from rerank_adapters.formats.speech_services import AlternativesFormat
from rerank_adapters.formats.srilm import SrilmFormat
from rerank_adapters.formats.translation_json import Ctranslate2Format, SockeyeFormat, TransformersFormat
from rerank_adapters.formats.wenet import WenetFormat
from rerank_adapters.formats.whisper import WhisperFormat
from rerank_plugins import NBestFormat

FORMATS: dict[str, type[NBestFormat]] = {
    "moses": MosesFormat,
    "cdec": CdecFormat,
    "joshua": JoshuaFormat,
    "travatar": TravatarFormat,
    "marian": MarianFormat,
    "fairseq": FairseqFormat,
    "hyporadise": HyporadiseFormat,
    "plain": PlainFormat,
    "sockeye": SockeyeFormat,
    "ctranslate2": Ctranslate2Format,
    "transformers": TransformersFormat,
    "kaldi": KaldiFormat,
    "srilm": SrilmFormat,
    "htk-mlf": HtkMlfFormat,
    "julius": JuliusFormat,
    "espnet": EspnetFormat,
    "whisper": WhisperFormat,
    "nemo": NemoFormat,
    "icefall": IcefallFormat,
    "wenet": WenetFormat,
    "pyctcdecode": PyctcdecodeFormat,
    "alternatives": AlternativesFormat,
    "kaldi-lattice": KaldiLatticeFormat,
    "htk-slf": HtkSlfFormat,
}
