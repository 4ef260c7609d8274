"""What commands that train on treebanks share: options, training, and what they say of it.

OPTIONS are those of `rerank train grammar` and `rerank train hhmm`; `rerank train svs` takes some of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rerank_adapters.commands.options import model_output

if TYPE_CHECKING:
    from rerank_plugins.models.pcfg.grammar import Grammar
    from rerank_plugins.models.pcfg.split_merge import Schedule
    from rerank_plugins.models.pcfg.tagged_words import Tagged
    from rerank_plugins.models.pcfg.training import GrammarSettings
    from rerank_plugins.trees.parseval import Parseval

INPUTS = click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
LANGUAGE = click.option("--language", required=True, metavar="CODE", help="Code of the language, as en.")
TAGGED = click.option(
    "--tagged", multiple=True, type=Path, metavar="FILE", help="Tagged words for the lexicon: CoNLL-U (XPOS) or trees."
)
WEIGHTS = click.option(
    "--weight", "weights", multiple=True, metavar="FILE=NUMBER", help="How much a file's trees or words count."
)
OPTIONS = (
    INPUTS,
    model_output("Grammar file to write."),
    LANGUAGE,
    click.option("--splits", type=click.IntRange(0, 8), default=4, show_default=True,
                 help="Rounds of latent splitting."),
    click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the latent splits."),
    TAGGED,
    WEIGHTS,
    click.option("--compact", is_flag=True, help="Half the size; probabilities are rounded by up to 0.8 %."),
)  # fmt: skip


def say(line: str) -> None:
    """A line for the person at the terminal."""
    click.echo(line, err=True)


def say_scores(path: Path, found: Parseval) -> None:
    """How well held-out trees were parsed."""
    values = found.percent()
    say(
        f"{path}: {found.sentences:,} sentences, F1 {values['F1']:.1f} (precision {values['LP']:.1f}, recall "
        f"{values['LR']:.1f}), {values['exact']:.1f} % exact, {values['tags']:.1f} % of the tags right"
    )


def counts_of(
    inputs: tuple[Path, ...], tagged: tuple[Path, ...], weights: tuple[str, ...]
) -> tuple[dict[Path, float], Tagged]:
    """How much each treebank counts, and the tagged words. Raises ConfigError, FormatError."""
    from rerank_adapters.applications.training import treebanks as training

    counts = training.parse_weights(weights, [*inputs, *tagged])
    known = training.read_tagged({path: counts[path] for path in tagged}, say)
    return {path: counts[path] for path in inputs}, known


@dataclass(frozen=True)
class GrammarFlags:
    """What the OPTIONS gave."""

    inputs: tuple[Path, ...]
    output: Path
    language: str
    splits: int
    seed: int
    tagged: tuple[Path, ...]
    weights: tuple[str, ...]
    compact: bool

    @property
    def schedule(self) -> Schedule:
        """The rounds of latent splitting."""
        from rerank_plugins.models.pcfg.split_merge import Schedule

        return Schedule(rounds=self.splits, seed=self.seed)

    def train(self, settings: GrammarSettings) -> Grammar:
        """The grammar of the files, written; what it is made of is said. Raises ConfigError, FormatError, OSError."""
        from rerank_adapters.applications.training import treebanks as training
        from rerank_plugins.models.pcfg.model_file import write_grammar

        started = time.process_time()
        counts, known = self.counts()
        grammar = training.train(counts, settings, say, known)
        self.describe(grammar, write_grammar(grammar, self.output, compact=self.compact), started)
        return grammar

    def counts(self) -> tuple[dict[Path, float], Tagged]:
        """How much each treebank counts, and the tagged words. Raises ConfigError, FormatError."""
        return counts_of(self.inputs, self.tagged, self.weights)

    def describe(self, grammar: Grammar, size: int, started: float) -> None:
        """Say what was written: a file of `size` bytes, training `started` at this process time."""
        say(
            f"{self.output}: {grammar.size:,} symbols of {len(grammar.bases)} bases, {len(grammar.binary):,} binary "
            f"and {len(grammar.unary):,} unary rules, {len(grammar.lexicon.words):,} words; {size / 1e6:.2f} MB, "
            f"{time.process_time() - started:.1f} s of CPU"
        )


def grammar_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The OPTIONS, handed to the command in one argument, `flags`."""

    @wraps(command)
    def gathered(**given: Any) -> Any:
        return command(GrammarFlags(**{field.name: given.pop(field.name) for field in fields(GrammarFlags)}), **given)

    for option in reversed(OPTIONS):
        gathered = option(gathered)
    return gathered
