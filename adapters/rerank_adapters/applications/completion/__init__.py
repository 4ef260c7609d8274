"""Sentence completion: which of several words fills a blank."""
