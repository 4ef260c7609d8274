"""Algorithms, a package each; they know neither plugins, configuration files nor the command line."""
