"""Inserts one error into a correct sentence: pseudo-negative examples of grammar (Foster et al. 2008)."""
