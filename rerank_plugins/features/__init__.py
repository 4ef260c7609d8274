"""Built-in feature extractors, one a file."""
