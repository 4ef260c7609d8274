"""The last line of a command: what it wrote and where."""

from __future__ import annotations

from pathlib import Path

import click


def say_written(path: str | Path, what: str) -> None:
    """Say on stderr `FILE: what`; for `-`, `stdout: what`."""
    click.echo(f"{'stdout' if str(path) == '-' else path}: {what}", err=True)


def counted(number: int, noun: str) -> str:
    """A number with its noun in the plural where it is needed.

    >>> counted(1, "pair"), counted(1200, "pair")
    ('1 pair', '1,200 pairs')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
