"""Acceptability."""
