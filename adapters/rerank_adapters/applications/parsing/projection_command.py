"""`rerank project-trees`: makes trees for a language without a treebank, through word alignments."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import PLUGIN_HELP, JobFlags, job_flags, output_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins.core.registry import Registry


@click.command("project-trees")
@click.argument("texts", nargs=-1, required=True, metavar="SOURCE [TARGET]")
@click.option("-a", "--alignment", type=Path, required=True, metavar="MODEL",
              help="The word alignment model of `rerank train word-alignment`.")  # fmt: skip
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"Parse the target side: {PLUGIN_HELP}.")  # fmt: skip
@click.option("--trees", metavar="FILE",
              help="Take the trees of the target side from this CoNLL-U file instead, in the order of the "
                   "sentences.")  # fmt: skip
@click.option("--density", type=click.FloatRange(0, 1), default=0.8, show_default=True,
              help="Keep trees in which at least this proportion of the words has a one-to-one link.")  # fmt: skip
@click.option("--longest", type=click.IntRange(1), default=40, show_default=True, metavar="N",
              help="Leave out pairs with more than N words on a side.")  # fmt: skip
@output_option("Where to write the trees, as CoNLL-U.")
@job_flags("config", "jobs")
@click.pass_obj
def command(
    registry: Registry, flags: JobFlags, texts: tuple[str, ...], alignment: Path, parser: str, trees: str | None,
    density: float, longest: int, output: Path,
) -> None:  # fmt: skip
    """Project trees to the source side of sentence pairs.

    The pairs are the lines of the files SOURCE and TARGET, or those of a single file, `source ||| target`. The target
    side is parsed, and its heads, relations and tags are carried over through word alignments (Hwa et al. 2005). Words
    without a counterpart are attached to a neighbour; `--density` leaves out trees with too many of them. The trees
    that are left train a parser of the source language.

    \b
    rerank train word-alignment train.de train.en -o de-en.align
    rerank project-trees train.de train.en -a de-en.align -o train.de.conllu.xz
    rerank train dependency-parser train.de.conllu.xz --language de -o german.npz
    """  # noqa: D301
    from rerank_adapters.applications.parsing.projecting import parsed_trees, project_trees, read_trees
    from rerank_adapters.chain.job import Job
    from rerank_plugins.translation.alignment.model import read_model

    closing = Closing()
    job = Job.create(flags.settings, registry)
    target_trees = read_trees(trees) if trees else parsed_trees(job.parser(parser), job.config.jobs)
    counts = project_trees(read_model(alignment), texts, target_trees, output, density, longest)
    click.echo(
        f"{counted(counts.pairs, 'pair')}, {counts.with_tree:,} with a tree of up to {longest} words on both sides; "
        f"mean density of the trees kept {counts.density / max(1, counts.kept):.2f}",
        err=True,
    )
    closing.wrote(f"{counted(counts.kept, 'tree')} of {counted(counts.words, 'word')}", output)
