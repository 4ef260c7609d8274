"""`rerank lm sample`: draws sentences from a language model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.cli.options import SummaryLine, job_options, output_option, plugin_names
from rerank_adapters.job.models import load_language_model
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_plugins import ConfigError
from rerank_plugins.core.interfaces import GenerativeLM
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job


def length_range(text: str) -> tuple[int, int]:
    """The shortest and the longest length, from `15-20` or `7`. Raises ConfigError.

    >>> length_range("15-20"), length_range("7")
    ((15, 20), (7, 7))
    """
    low, dash, high = text.partition("-")
    parts = [low, high if dash else low]
    if not all(part.isdecimal() for part in parts) or not 1 <= int(parts[0]) <= int(parts[1]):
        raise ConfigError(f"length {text!r}: wanted words, as 7 or 15-20")
    return int(parts[0]), int(parts[1])


@click.command("sample")
@click.argument("lm", shell_complete=plugin_names("language_model"))
@click.option("-n", "--number", type=click.IntRange(0), default=10, show_default=True, help="Number of sentences.")
@click.option("--length", default="1-100", show_default=True, metavar="WORDS",
              help="Number of words in a sentence: 15-20, or 7.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["text", "trees"]), default="text", show_default=True,
              help="Print the words of each sentence, or its tree, if the model generates trees.")  # fmt: skip
@output_option("Where to write the sentences.")
@job_options("config", "seed")
def command(job: Job, lm: str, number: int, length: str, form: str, output: Path) -> None:
    """Draw sentences at random from a language model.

    LM is the name of a language model in the config, or NAME, or NAME,option=value,…. The models `ngram-lm` and
    `treelet-lm` generate sentences. Sentences outside --length are drawn again. The same seed gives the same sentences.
    The trees of a treelet model are printed with the model's transformations.

    \b
    rerank lm sample ngram-lm,model=lm.ngram -n 5 --length 15-20
    rerank lm sample treelet-lm --as trees
    """  # noqa: D301
    summary_line = SummaryLine()
    shortest, longest = length_range(length)
    model = load_language_model(lm, job.names)
    sampler: Any = model.sampler(shortest, longest) if isinstance(model, GenerativeLM) else None
    trees = form == "trees"
    if sampler is None or (trees and not hasattr(sampler, "sample_trees")):
        what = "trees" if trees else "sentences"
        raise ConfigError(f"{what} cannot be drawn from the language model {lm!r}: ngram-lm and treelet-lm can be")
    rng = np.random.default_rng(job.config.seed)
    with StatusLine("drawing sentences"):
        drawn = sampler.sample_trees(number, rng) if trees else map(" ".join, sampler.sample(number, rng))
        drawn = list(map(str, drawn))
    with open_atomic(output) as out:
        out.writelines(f"{line}\n" for line in drawn)
    summary_line.wrote(counted(len(drawn), "tree" if trees else "sentence"), output)
