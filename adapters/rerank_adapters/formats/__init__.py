"""File formats of n-best lists."""
