"""Vocabularies: the numbers of words, the signatures of unknown words, and word frequencies."""
