"""Makes pseudo-negative examples: unacceptable sentences derived from acceptable ones."""
