"""Finds lexical substitutes: the most probable words, by a language model, in the position of each word of a text."""
