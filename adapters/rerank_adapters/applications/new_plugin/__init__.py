"""A package for a plugin of one's own, written from templates."""
