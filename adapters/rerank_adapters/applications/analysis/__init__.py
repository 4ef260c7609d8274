"""Analyses reranking: what each feature contributes, and why one hypothesis beats another."""
