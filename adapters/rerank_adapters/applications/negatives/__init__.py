"""Pseudo-negative examples: unacceptable sentences derived from acceptable ones."""
