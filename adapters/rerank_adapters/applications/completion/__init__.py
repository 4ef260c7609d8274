"""Completes sentences: chooses the word for a blank from several options."""
