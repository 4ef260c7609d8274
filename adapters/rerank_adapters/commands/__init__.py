"""The commands of `rerank`, one a file."""
