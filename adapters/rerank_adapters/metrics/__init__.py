"""Metrics over additive sufficient statistics."""
