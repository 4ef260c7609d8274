"""Parsing of texts and n-best lists, and the evaluation of parsers."""
