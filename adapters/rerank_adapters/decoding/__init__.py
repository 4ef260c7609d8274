"""Language models inside the search of a decoder: pyctcdecode, flashlight-text, or a search of one's own."""

from rerank_adapters.decoding.beam_scorer import BeamScorer, Prefix
from rerank_adapters.decoding.flashlight_model import FlashlightModel, flashlight_model
from rerank_adapters.decoding.pyctcdecode_model import CtcLanguageModel

__all__ = ["BeamScorer", "CtcLanguageModel", "FlashlightModel", "Prefix", "flashlight_model"]
