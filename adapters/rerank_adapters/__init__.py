"""Wiring: formats, metrics, tuners, configuration and the command line around `rerank_plugins`."""
