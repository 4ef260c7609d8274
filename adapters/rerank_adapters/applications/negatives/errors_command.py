"""`rerank negatives errors`: inserts one error into each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_option, scheduler_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins.registry import Registry

if TYPE_CHECKING:
    from rerank_plugins.trees.dependency import DependencyTree


@click.command("errors")
@click.argument("text", default="-")
@click.option("--kind", "kinds", multiple=True, metavar="KIND[=SHARE]",
              help="Insert errors of this kind, in this proportion: missing, extra, real-word, non-word, wrong-form "
              "or agreement. Repeatable. Default: all kinds, in equal shares.")  # fmt: skip
@click.option("--forms", metavar="FILE", help="Take the known words and their forms from this text. Default: TEXT.")
@click.option("--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help="Parser for tags and agreement. With `none` there are no agreement errors, and forms are "
              "recognised by their endings alone.")  # fmt: skip
@output_option("Write the pairs to this file.")
@scheduler_option
@job_flags("config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, text: str, kinds: tuple[str, ...], forms: str | None, parser: str, output: Path
) -> None:
    """Insert one error into each sentence of TEXT (a sentence a line, tokenised, English).

    The columns of the output are the sentence, the sentence with the error, the kind of the error, the position of the
    word (from 1), and the word before and after the change. A sentence into which no error can be inserted is left out.
    A sentence with an inserted error may be acceptable by chance.

    \b
    rerank negatives errors novel.txt --kind agreement --kind wrong-form=0.5 > made.tsv
    """  # noqa: D301
    from numpy.random import default_rng

    from rerank_adapters.applications.negatives.pairs import ERROR_COLUMNS, error_inserter, noisy_pairs
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.compressed import open_atomic
    from rerank_adapters.formats.minimal_pairs import Pair, pair_lines
    from rerank_adapters.formats.references import read_lines
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.pipeline.parsing import ParseCounts, parse_in_order
    from rerank_adapters.progress import CountingBar

    closing = Closing()
    job = Job.create(flags.settings, registry)
    sentences = [words for line in read_lines(text) if (words := line.split())]
    inserter = error_inserter([line.split() for line in read_lines(forms)] if forms else sentences, kinds)
    written = 0

    def with_trees() -> Iterator[tuple[Sequence[str], DependencyTree | None]]:
        if parser == "none":
            yield from zip(sentences, repeat(None))
            return
        for words, parse in parse_in_order(job.parser(parser), map(tuple, sentences), job.config.jobs, ParseCounts()):
            yield words, parse.dependencies

    def counted_pairs() -> Iterator[Pair]:
        nonlocal written
        with CountingBar("sentences", len(sentences)) as bar:
            line = 0
            for pair in noisy_pairs(with_trees(), inserter, default_rng(job.config.seed)):
                bar.add(pair.line - line)
                line = pair.line
                written += 1
                yield pair

    with open_atomic(output) as out:
        out.writelines(pair_lines(counted_pairs(), ERROR_COLUMNS))
    left_out = len(sentences) - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    closing.wrote(f"{counted(written, 'pair')}{rest}", output)
