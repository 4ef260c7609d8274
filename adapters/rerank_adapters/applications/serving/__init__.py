"""Serves reranking over HTTP: weights and models are loaded once, and lists come in requests."""
