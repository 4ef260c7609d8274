"""Judges acceptability by language models and features: minimal pairs, single sentences, test suites."""
