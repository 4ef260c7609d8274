"""Options of the commands that train on bracketed treebanks.

`rerank train grammar` and `rerank train hhmm` take all OPTIONS; `rerank train svs` takes some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.commands.options import model_output, spoken_option

if TYPE_CHECKING:
    from rerank_plugins.constituency.split_merge import Schedule

INPUTS = click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
LANGUAGE = click.option("--language", required=True, metavar="CODE", help="Code of the language, such as en.")
TAGGED = click.option(
    "--tagged", multiple=True, type=Path, metavar="FILE",
    help="Add the tagged words of this file (CoNLL-U with XPOS, or bracketed trees) to the lexicon. Repeatable.",
)  # fmt: skip
WEIGHTS = click.option(
    "--weight", "weights", multiple=True, metavar="FILE=NUMBER",
    help="Multiply the counts of the trees or tagged words of FILE by this number. Repeatable.",
)  # fmt: skip
HELD_OUT = click.option(
    "--held-out", multiple=True, type=Path, metavar="FILE",
    help="Report how well the model parses the trees of this file. Repeatable.",
)  # fmt: skip
OPTIONS = (
    INPUTS,
    model_output("Write the grammar to this file."),
    LANGUAGE,
    click.option("--splits", type=click.IntRange(0, 8), default=4, show_default=True,
                 help="Number of rounds in which symbols are split into latent states."),
    click.option("--split-on", type=click.IntRange(1), metavar="TREES",
                 help="Learn the splits on at most this many trees of each FILE, evenly spaced, and only the last "
                      "iterations on all trees. Default: all."),
    click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the latent splits."),
    TAGGED,
    WEIGHTS,
    spoken_option,
    click.option("--compact", is_flag=True, help="Halve the file's size; probabilities are rounded by up to 0.8 %."),
)  # fmt: skip


@dataclass(frozen=True)
class GrammarFlags:
    """The values of the OPTIONS."""

    inputs: tuple[Path, ...]
    output: Path
    language: str
    splits: int
    split_on: int | None
    seed: int
    tagged: tuple[Path, ...]
    weights: tuple[str, ...]
    spoken: bool
    compact: bool

    @property
    def schedule(self) -> Schedule:
        """The rounds of latent splitting."""
        from rerank_plugins.constituency.split_merge import Schedule

        return Schedule(rounds=self.splits, seed=self.seed, learn_on=self.split_on)


def grammar_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the OPTIONS to a command, which gets their values in one argument, `flags`."""

    @wraps(command)
    def with_flags(**values: Any) -> Any:
        return command(GrammarFlags(**{field.name: values.pop(field.name) for field in fields(GrammarFlags)}), **values)

    for option in reversed(OPTIONS):
        with_flags = option(with_flags)
    return with_flags
