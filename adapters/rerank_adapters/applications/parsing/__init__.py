"""Parsing."""
