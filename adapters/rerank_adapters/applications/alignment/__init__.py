"""Aligns the words of sentence pairs, and measures the errors of the links."""
