"""Vocabularies: the numbers of words, the signatures of unknown words, word classes and word frequencies."""
