"""File formats of n-best lists, with reference files and merging."""
