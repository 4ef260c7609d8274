"""Language models inside the search of a decoder: pyctcdecode, flashlight-text, or a search of one's own."""

from rerank_adapters.decoding.beam_scorer import BeamScorer, Prefix
from rerank_adapters.decoding.decoders import CtcLanguageModel, FlashlightModel, flashlight_model

__all__ = ["BeamScorer", "CtcLanguageModel", "FlashlightModel", "Prefix", "flashlight_model"]
