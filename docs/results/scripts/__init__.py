"""Experiments: each prints a table of the documentation; `python -m docs.results.scripts.NAME --help` names the data."""
