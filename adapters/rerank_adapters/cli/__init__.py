"""The command line: `main`, groups of commands, the options that several commands have, and the chain's commands."""

from rerank_adapters.cli.main import main

__all__ = ["main"]
