"""Models of structured vectorial semantics, looked into."""
