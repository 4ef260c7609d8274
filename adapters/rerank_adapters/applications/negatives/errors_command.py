"""`rerank negatives errors`: inserts one error into each sentence."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_option, scheduler_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins.core.registry import Registry


@click.command("errors")
@click.argument("text", default="-")
@click.option("--kind", "kinds", multiple=True, metavar="KIND[=SHARE]",
              help="Insert errors of this kind, in this proportion: missing, extra, real-word, non-word, wrong-form "
              "or agreement. Repeatable. Default: all kinds, in equal proportions.")  # fmt: skip
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
    from rerank_adapters.applications.negatives.sentences import with_trees, write_pairs
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.references import read_lines

    closing = Closing()
    job = Job.create(flags.settings, registry)
    sentences = [words for line in read_lines(text) if (words := line.split())]
    inserter = error_inserter([line.split() for line in read_lines(forms)] if forms else sentences, kinds)
    trees = with_trees(sentences, job, parser)
    pairs = noisy_pairs(trees, inserter, default_rng(job.config.seed))
    written = write_pairs(pairs, len(sentences), ERROR_COLUMNS, output)
    left_out = len(sentences) - written
    rest = f" ({counted(left_out, 'sentence')} left out)" if left_out else ""
    closing.wrote(f"{counted(written, 'pair')}{rest}", output)
