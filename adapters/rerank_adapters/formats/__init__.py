"""File formats of n-best lists, and merging."""
