"""Tuners: weights from features and statistics."""
