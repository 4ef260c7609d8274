"""Lexical substitutes: the words that a language model would put in the place of each word of a text."""
