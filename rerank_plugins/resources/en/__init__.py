"""Embedded English models."""
