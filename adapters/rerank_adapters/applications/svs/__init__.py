"""Inspection of models of structured vectorial semantics."""
