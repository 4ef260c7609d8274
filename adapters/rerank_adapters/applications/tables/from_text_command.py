"""`rerank table from-text`: makes a feature table of scores computed elsewhere."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.applications.tables.options import table_output
from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import format_option
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry


@click.command("from-text")
@click.argument("scores", type=Path)
@click.option("--nbest", "nbest", multiple=True, required=True, metavar="NBEST",
              help="The n-best lists that were scored. Repeat the option for lists in several files.")  # fmt: skip
@click.option("--name", "names", multiple=True, metavar="NAME",
              help="The name of a column, repeated for each of several. Default: the name of the file.")  # fmt: skip
@table_output
@format_option
@click.pass_obj
def command(
    registry: Registry, scores: Path, nbest: tuple[str, ...], names: tuple[str, ...], output: Path, format_: str | None
) -> None:
    """Make a feature table of SCORES computed elsewhere.

    SCORES has a line for each hypothesis, in the order of the lines of the lists: a number for each NAME, between white
    space. They may come from a neural model, a quality estimate, an LLM or people. `rerank table join` puts
    them beside other features. In a config, the feature `column` does the same.

    \b
    rerank table from-text tune.nmt.gz --nbest tune.nbest \\
        --name forward --name backward -o nmt.npz
    """  # noqa: D301
    from rerank_adapters.applications.tables.scores import score_table
    from rerank_adapters.chain.job import Job, lists_size
    from rerank_adapters.commands.options import JobFlags
    from rerank_adapters.formats.reading import read_nbest
    from rerank_adapters.runtime.progress import StatusLine

    closing = Closing()
    if not names and str(scores) == "-":
        raise ConfigError("the scores come from stdin: name their columns by --name")
    job = Job.create(JobFlags(format_=format_).settings, registry)
    with StatusLine("reading the lists"):
        nbests = read_nbest([Path(path) for path in nbest], job.format)
    table = score_table(nbests, scores, names or (scores.name.partition(".")[0],))
    table.save(output)
    size = lists_size(table.segments, len(table.values))
    closing.wrote(f"{counted(len(table.names), 'feature')} of {size}", output)
