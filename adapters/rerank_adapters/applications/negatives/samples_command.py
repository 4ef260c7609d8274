"""`rerank negatives samples`: pairs sentences with sentences drawn from an n-gram model."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_option
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("samples")
@click.argument("text", default="-")
@click.option("-m", "--model", type=Path, required=True, metavar="FILE", help="N-gram model to draw from: "
              "a file of `rerank train ngram`, or ARPA.")  # fmt: skip
@output_option("Write the pairs to this file.")
@job_flags("config", "seed")
@click.pass_obj
def command(registry: Registry, flags: JobFlags, text: str, model: Path, output: Path) -> None:
    """Put beside each sentence of TEXT one that an n-gram model makes up, of as many words.

    The columns of the output are the sentence, the sentence drawn from the model, and the number of words of both. The
    model should be trained on text of the same kind as TEXT, but not on TEXT itself.

    \b
    rerank train ngram news.txt --order 3 -o trigram.ngram
    rerank negatives samples dev.txt -m trigram.ngram > made.tsv
    """  # noqa: D301
    from numpy.random import default_rng

    from rerank_adapters.applications.negatives.pairs import sampled_pairs
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.pairs import pair_lines
    from rerank_adapters.formats.references import read_lines
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    job = Job.create(flags.settings, registry)
    sentences = [words for line in read_lines(text) if (words := line.split())]
    with StatusLine("drawing sentences"):
        pairs = list(sampled_pairs(sentences, model, default_rng(job.config.seed)))
    if not pairs:
        raise ConfigError(f"{model}: the model generated no sentence as long as one of {text}")
    if len(pairs) < len(sentences):
        left_out = len(sentences) - len(pairs)
        click.echo(f"{left_out} of {len(sentences)} sentences left out: no sample has their length", err=True)
    with open_atomic(output) as out:
        out.writelines(pair_lines(pairs, ("words",)))
    closing.wrote(counted(len(pairs), "pair"), output)
