"""Scores the similarity of sentences by systems trained on scored pairs."""
