"""Writes a package for a plugin of one's own from templates."""
