"""Textual similarity: systems trained on scored pairs of sentences."""
