"""Inspects models of structured vectorial semantics."""
