"""`rerank train treelet-lm`: a treelet language model from treebanks or text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from rerank_adapters.commands.options import (
    PLUGIN_HELP,
    JobFlags,
    job_flags,
    model_output,
    text_steps,
    tokenised_text_option,
)
from rerank_plugins import ConfigError
from rerank_plugins.plugins import Registry

VARIANTS = ["pcfg", "treelet-trans", "treelet-rule", "treelet", "headlex"]


@click.command("treelet-lm")
@click.argument("inputs", nargs=-1, required=True, type=Path, metavar="FILE...")
@model_output()
@click.option("--variant", type=click.Choice(VARIANTS), default="treelet", show_default=True,
              help="The model, or one of its baselines.")  # fmt: skip
@click.option("--min-count", type=click.IntRange(1), default=1, show_default=True,
              help="Rarer words become signatures.")  # fmt: skip
@click.option("--min-rule-count", type=click.IntRange(1), default=1, show_default=True,
              help="Rarer rules are left to the 4-grams of symbols.")  # fmt: skip
@click.option("--prune", default="0", metavar="COUNTS",
              help="Leave out word events seen so often or less, by order: 0,0,0,1.")  # fmt: skip
@click.option("--prune-rules", default="0", metavar="COUNTS", help="The same of rules.")
@click.option("--signatures-after", type=click.IntRange(0), default=10_000, show_default=True,
              help="Sentences before new words become signatures.")  # fmt: skip
@click.option("--signature-rate", type=click.FloatRange(0, 1), default=0.1, show_default=True,
              help="Share of new words that do.")  # fmt: skip
@tokenised_text_option
@click.option("-p", "--parser", default="pcfg", show_default=True, metavar="PARSER", help=f"{PLUGIN_HELP}.")
@click.option("--held-out", multiple=True, type=Path, metavar="FILE", help="Say how well the model predicts these.")
@job_flags("config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, inputs: tuple[Path, ...], output: Path, variant: str, min_count: int,
    min_rule_count: int, prune: str, prune_rules: str, signatures_after: int, signature_rate: float,
    steps: tuple[str, ...], parser: str, held_out: tuple[Path, ...],
) -> None:  # fmt: skip
    """Train a treelet language model on FILEs: Penn brackets (.ptb, .mrg, .brackets, also compressed), or else text.

    Text has one sentence per line and is parsed on the way, by the parser's best trees; what is parsed is kept in the
    cache of parses, so that an interrupted training continues and the next one parses nothing again. Corpora of fewer
    than twice `--signatures-after` sentences have their words that occur once as signatures instead.

    \b
    rerank train treelet-lm treebank.ptb news.txt.xz -o news.treelet --held-out dev.ptb
    rerank train treelet-lm treebank.ptb --variant treelet-rule -o rule.treelet
    rerank score dev.txt --lm treelet-lm,model=news.treelet
    """  # noqa: D301
    from rerank_adapters.applications.training import treelet_lm as training
    from rerank_adapters.applications.training.tree_source import CONSTITUENTS, TreeSource
    from rerank_adapters.pipeline.job import Job
    from rerank_adapters.pipeline.parsing import ParseCounts
    from rerank_adapters.progress import CountingBar
    from rerank_adapters.text import TextPipeline
    from rerank_plugins.models.headlex import model as headlex
    from rerank_plugins.models.headlex.model_file import write_model as write_headlex
    from rerank_plugins.models.ngram.training import parse_prune
    from rerank_plugins.models.treelet.model import Settings, TreeletModel
    from rerank_plugins.models.treelet.model_file import write_model

    job = Job.create(flags.settings, registry)
    unknown: dict[str, Any] = {"signatures_after": signatures_after, "signature_rate": signature_rate}
    unknown["seed"] = job.config.seed
    pruned = {"prune_words": parse_prune(prune), "prune_rules": parse_prune(prune_rules)}
    if variant == "headlex":
        if min_rule_count > 1 or any(map(any, pruned.values())):
            raise ConfigError("--variant headlex has no rules to leave out, and is not pruned")
        baseline = headlex.Settings(min_count, **unknown)
    else:
        settings = Settings(variant, "types", min_count, min_rule_count, **pruned, **unknown)  # type: ignore[arg-type]
    counts = ParseCounts()
    started = time.process_time()
    with CountingBar("trees") as progress:
        source = TreeSource(CONSTITUENTS, job, parser, TextPipeline(text_steps(steps, ())), counts, progress.add)
        model = (
            training.train_headlex(source, inputs, baseline)
            if variant == "headlex"
            else training.train_treelet_lm(source, inputs, settings)
        )
    size = write_model(model, output) if isinstance(model, TreeletModel) else write_headlex(model, output)
    made = model.provenance
    parsed = f" ({counts})" if counts.sentences else ""
    click.echo(
        f"{output}: {made['trees']:,} trees{parsed}, {made['words']:,} words, {len(model.vocabulary):,} in the "
        f"vocabulary, {len(model.symbols):,} symbols; {size / 1e6:.1f} MB, "
        f"{time.process_time() - started:.1f} s of CPU in this process",
        err=True,
    )
    for path in held_out:
        found = training.held_out(model, source.trees([path]))
        click.echo(
            f"{path}: {found.sentences} sentences, {found.words} words, {found.unknown} unknown, "
            f"perplexity {found.perplexity:.1f} by one tree each",
            err=True,
        )
