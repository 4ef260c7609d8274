"""Restores sentences that lack a word: locates the gap, finds the word, and makes the sentence complete."""
