"""Restoration of sentences that lack a word: where it is missing, which word it is, and the restored sentences."""
