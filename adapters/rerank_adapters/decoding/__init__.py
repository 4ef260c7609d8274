"""Language models inside the search of a decoder: pyctcdecode, or a search of one's own."""

from rerank_adapters.decoding.beam_scorer import BeamScorer, Prefix
from rerank_adapters.decoding.ctc_model import CtcLanguageModel

__all__ = ["BeamScorer", "CtcLanguageModel", "Prefix"]
