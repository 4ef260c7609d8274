"""Reads word lattices as n-best lists, by an exact search for the best distinct word sequences."""
