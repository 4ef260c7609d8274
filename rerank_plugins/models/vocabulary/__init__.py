"""Vocabularies: the numbers of words, unknown words and what replaces them, word classes, and word frequencies."""
