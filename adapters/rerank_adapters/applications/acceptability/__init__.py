"""Grammaticality: minimal pairs, single sentences, test suites."""
