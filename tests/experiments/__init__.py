"""Experiments: each prints a table of the documentation; `python -m tests.experiments.NAME --help` names the data."""
