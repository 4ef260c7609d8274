"""Negatives."""
