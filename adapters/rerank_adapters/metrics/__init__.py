"""Metrics computed from additive sufficient statistics: BLEU, chrF, TER, WER and others."""
