"""Pseudo-negative examples: bad sentences made from good ones."""
