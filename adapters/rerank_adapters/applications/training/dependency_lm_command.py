"""`rerank train dependency-lm`: a dependency language model from treebanks or text."""

from __future__ import annotations

import time
from pathlib import Path

import click

from rerank_adapters.commands.options import (
    PLUGIN_HELP,
    JobFlags,
    job_flags,
    model_output,
    text_steps,
    tokenised_text_option,
)
from rerank_plugins.plugins import Registry


@click.command("dependency-lm")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--order", type=click.IntRange(1, 6), default=4, show_default=True, help="A word and its ancestors.")
@click.option("--unlabelled", is_flag=True, help="Leave the labels of arcs out of the contexts.")
@click.option(
    "--smoothing", type=click.Choice(["stupid-backoff", "kneser-ney"]), default="stupid-backoff", show_default=True
)
@click.option("--min-count", type=click.IntRange(1), default=5, show_default=True, help="Rarer words are unknown.")
@click.option("--prune", default="0", metavar="COUNTS", help="Leave out paths seen so often or less, by order: 0,1,2.")
@click.option("--subtypes", is_flag=True, help="Tell nsubj:pass from nsubj, and so on.")
@click.option("--lowercase", is_flag=True, help="Read all words in lower case.")
@tokenised_text_option
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER", help=f"{PLUGIN_HELP}.")
@click.option("--held-out", multiple=True, type=Path, metavar="FILE", help="Say how well the model predicts these.")
@job_flags("config", "jobs")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    inputs: tuple[Path, ...],
    output: Path,
    order: int,
    unlabelled: bool,
    smoothing: str,
    min_count: int,
    prune: str,
    lowercase: bool,
    subtypes: bool,
    steps: tuple[str, ...],
    parser: str,
    held_out: tuple[Path, ...],
) -> None:
    """Train a dependency language model on FILEs: CoNLL-U where the name says so (.conllu, .conllu.xz), else text.

    Text has one sentence per line (references of n-best lists are such text) and is parsed on the way; what is parsed
    is kept in the cache of parses, so that the next training parses nothing again.

    \b
    rerank train dependency-lm treebank.conllu news.txt.xz -o news.deplm
    rerank train dependency-lm novels.txt.xz --smoothing kneser-ney --prune 0,1 -o novels.deplm
    """  # noqa: D301
    from rerank_adapters.applications.training import dependency_lm as training
    from rerank_adapters.applications.training.tree_source import DEPENDENCIES, TreeSource
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.pipeline.parsing import ParseCounts
    from rerank_adapters.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.models.dependency_lm import Settings, write_model
    from rerank_plugins.models.ngram.training import parse_prune

    settings = Settings(order, not unlabelled, smoothing, min_count, lowercase, subtypes, parse_prune(prune))  # type: ignore[arg-type]
    job = Job.create(flags.settings, registry)
    counts = ParseCounts()
    started = time.process_time()
    with CountingBar("trees") as progress:
        source = TreeSource(DEPENDENCIES, job, parser, TextPipeline(text_steps(steps, ())), counts, progress.add)
        model = training.train_dependency_lm(source, inputs, settings)
    size = write_model(model, output)
    made = model.provenance
    parsed = f" ({counts})" if counts.sentences else ""
    click.echo(
        f"{output}: {made['trees']:,} trees{parsed}, {made['words']:,} words, {len(model.vocabulary):,} in the "
        f"vocabulary; n-grams {', '.join(f'{n:,}' for n in model.tables.sizes)}; {size / 1e6:.1f} MB, "
        f"{time.process_time() - started:.1f} s of CPU in this process",
        err=True,
    )
    for path in held_out:
        found = training.held_out(model, source.trees([path]))
        click.echo(
            f"{path}: {found.words} words, {found.unknown} unknown, perplexity of the others {found.perplexity:.1f}",
            err=True,
        )
