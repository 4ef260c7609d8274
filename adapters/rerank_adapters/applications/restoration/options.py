"""Options that the commands of restoration share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def model_option(command: Command) -> Command:
    """`-m`: the model of missing words."""
    return click.option(
        "-m", "--model", type=Path, required=True, metavar="MODEL",
        help="Model of missing words (`rerank train missing-words`).",
    )(command)  # fmt: skip


def method_option(command: Command) -> Command:
    """`--method`: how words are located."""
    return click.option(
        "--method", type=click.Choice(["odds", "distance", "ngram"]), default="odds", show_default=True,
        help="Locate by the log-odds of all pairs of words around a gap, by their votes (word-distance statistics), or "
             "by the votes of the two words beside it (n-gram).",
    )(command)  # fmt: skip


def ngram_option(command: Command) -> Command:
    """`--ngram`: an n-gram model that fills gaps."""
    return click.option(
        "--ngram", type=Path, metavar="LM",
        help="Fill with the exact best substitutes under this n-gram model or ARPA file (FASTSUBS), not with the five "
             "contexts of MODEL.",
    )(command)  # fmt: skip


def candidates_option(command: Command) -> Command:
    """`--candidates`: the size of the candidate list."""
    return click.option(
        "--candidates", type=click.IntRange(1), metavar="N",
        help="Fill with the N most frequent words of MODEL only. Default: all its words.",
    )(command)  # fmt: skip


def accuracy_option(command: Command) -> Command:
    """`--accuracy`: accuracies instead of answers."""
    return click.option(
        "--accuracy", is_flag=True,
        help="Print how often the right answer is among the first 1, 2, 3, 5 and 10, instead of the answers; TEXT must "
             "be a file of `rerank remove-word`.",
    )(command)  # fmt: skip


def processes_option(command: Command) -> Command:
    """`-j`: the number of processes."""
    return click.option(
        "-j", "--jobs", type=click.IntRange(1), default=2, show_default=True,
        help="Work in this many processes.",
    )(command)  # fmt: skip
