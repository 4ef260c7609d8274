"""Finds what sentences refer to in a world, by the referential semantic language model."""
