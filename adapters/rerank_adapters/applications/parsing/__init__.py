"""Parsing of texts and n-best lists, and evaluation of parsers."""
