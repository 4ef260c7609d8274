"""Dependency trees of one language carried over to another through word alignments, and compared with its own trees."""
