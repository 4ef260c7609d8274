"""Scores how alike two sentences are, by systems trained on scored pairs (Wu et al. 2013)."""
