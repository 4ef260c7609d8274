"""The formats of n-best lists by name: those of the decoders and recognisers that are supported."""

from __future__ import annotations

from rerank_plugins import NBestFormat
from rerank_plugins.core.plugins import class_at

FORMATS = {  # name -> the module in this package and the class
    "moses": "delimited:MosesFormat",
    "cdec": "delimited:CdecFormat",
    "joshua": "delimited:JoshuaFormat",
    "travatar": "delimited:TravatarFormat",
    "marian": "delimited:MarianFormat",
    "fairseq": "fairseq:FairseqFormat",
    "hyporadise": "json_programs:HyporadiseFormat",
    "plain": "plain:PlainFormat",
    "sockeye": "json_programs:SockeyeFormat",
    "ctranslate2": "json_programs:Ctranslate2Format",
    "transformers": "json_programs:TransformersFormat",
    "completions": "json_programs:CompletionsFormat",
    "rows": "rows:RowsFormat",
    "kaldi": "kaldi:KaldiFormat",
    "srilm": "srilm:SrilmFormat",
    "julius": "julius:JuliusFormat",
    "espnet": "espnet:EspnetFormat",
    "whisper": "json_programs:WhisperFormat",
    "nemo": "nemo:NemoFormat",
    "icefall": "icefall:IcefallFormat",
    "wenet": "wenet:WenetFormat",
    "alternatives": "json_programs:AlternativesFormat",
    "kaldi-lattice": "kaldi:KaldiLatticeFormat",
    "htk-slf": "htk_lattices:HtkSlfFormat",
}


def place_of(name: str) -> str:
    """Where the class of a format is: `module:Class`."""
    return f"{__package__}.{FORMATS[name]}"


def format_named(name: str, **options: object) -> NBestFormat:
    """The format of that name with these options."""
    made: NBestFormat = class_at(place_of(name))(**options)
    return made
