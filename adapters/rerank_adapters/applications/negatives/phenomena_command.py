"""`rerank negatives phenomena`: makes minimal pairs that break rules of grammar."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_option, scheduler_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("phenomena")
@click.argument("text", default="-")
@click.option("--kind", "kinds", multiple=True, metavar="KIND[,KIND…]",
              help="Break rules of these kinds: agreement, anaphors, binding, case, arguments, selection, verb-forms, "
              "polarity, quantifiers, ellipsis, control, islands or filler-gap. Repeatable. Default: all.")  # fmt: skip
@click.option("--each", type=click.IntRange(1), metavar="N", help="Make at most this many pairs by each rule.")
@click.option("--longest", type=click.IntRange(2), default=20, show_default=True, metavar="N",
              help="Leave out sentences of TEXT with more words.")  # fmt: skip
@click.option("--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help="Parser of the dependency trees; one of the config may read them from a treebank.")  # fmt: skip
@output_option("Write the pairs to this file.")
@scheduler_option
@job_flags("config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, text: str, kinds: tuple[str, ...], each: int | None, longest: int,
    parser: str, output: Path,
) -> None:  # fmt: skip
    """Make minimal pairs of the sentences of TEXT (a sentence a line, tokenised, English).

    The columns of the output are a good sentence, one that breaks a rule of English grammar, the phenomenon and the
    rule. The good sentence is that of TEXT, or a question or an embedded clause made of it. Of several rules that apply
    to a sentence, the one with the fewest pairs so far is chosen. The rules read the parser's trees, so that some pairs
    are wrong.

    \b
    rerank negatives phenomena news.txt --each 100 > pairs.tsv
    rerank negatives phenomena news.txt --kind agreement,polarity --longest 15 > pairs.tsv
    rerank acceptability pairs pairs.tsv -f treelet-lm --by phenomenon
    """  # noqa: D301
    from numpy.random import default_rng

    from rerank_adapters.applications.negatives.pairs import PHENOMENON_COLUMNS, pair_maker, phenomenon_pairs
    from rerank_adapters.applications.negatives.sentences import with_trees, write_pairs
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.formats.pairs import Pair
    from rerank_adapters.formats.references import read_lines

    closing = Closing()
    job = Job.create(flags.settings, registry)
    maker = pair_maker(kinds, each)
    sentences = [words for line in read_lines(text) if 1 < len(words := line.split()) <= longest]

    def pairs() -> Iterator[Pair]:
        yield from phenomenon_pairs(with_trees(sentences, job, parser), maker, default_rng(job.config.seed))
        if not maker.counts:  # before the file has its name
            needs = "the rules need UPOS tags and dependencies" if sentences else f"none has 2 to {longest} words"
            raise ConfigError(f"{text}: no rule applies to any sentence; {needs}")

    write_pairs(pairs(), len(sentences), PHENOMENON_COLUMNS, output)
    closing.wrote(f"{counted(maker.counts.total(), 'pair')} by {counted(len(maker.counts), 'rule')}", output)
