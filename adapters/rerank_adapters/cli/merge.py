"""`rerank lists merge`: merges n-best lists of the same segments, and converts them to other formats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import SummaryLine, job_options, output_option
from rerank_plugins import ConfigError

if TYPE_CHECKING:
    from rerank_adapters.job.job import Job
    from rerank_plugins import Metric

DECODER = re.compile(r"([^\s=|:/-][^\s=|:/]*)=(.+)", re.DOTALL)  # a word that can begin the names of features


@click.command("merge")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@output_option("Write the merged lists to this file.")
@job_options("format_")
@click.option(
    "--as", "form", metavar="FORMAT",
    help="Write the lists in this format: NAME or NAME,option=value,…",
    show_default="that of the files, each byte as it was; moses for formats that are read alone",
)  # fmt: skip
@click.option(
    "--agreement", "agreements", multiple=True, metavar="METRIC",
    help="Add DECODER-METRIC, the sentence score of each hypothesis with the decoder's first one as its reference. "
    "Repeatable.",
)  # fmt: skip
def command(job: Job, nbest: tuple[str, ...], output: Path, form: str | None, agreements: tuple[str, ...]) -> None:
    """Merge n-best lists, or combine the lists of different decoders.

    The lists of the same segments may be those of several tuning rounds, or of several systems with the same features.
    Of hypotheses with the same text and the same features, only the first is kept. Files whose ids ascend are merged in
    bounded memory; files in any other order are sorted in memory. --as writes the lists in another format, with texts,
    features and totals: the n-best lists of lattices, for instance, as Moses's.

    \b
    rerank lists merge round1.nbest.gz round2.nbest.gz -o merged.nbest.gz
    rerank lists merge test.lat --format kaldi-lattice,n=50 \\
        --as moses -o test.nbest

    Files as DECODER=FILE are of different decoders, each with its own features and format: the combined lists hold
    all hypotheses and all features, equal texts once. In a hypothesis that a decoder did not list, its features have
    the lowest value of its list for the segment. DECODER-score is its total, DECODER-rank 1 / rank in its list or 0,
    and DECODER-listed 1 or 0. They are written in the format of Moses, without totals. Lists for tuning and for
    testing need the same decoders. A file that shows no format of lists is the output of a decoder, a line for each
    segment.

    \b
    rerank lists merge phrases=moses.nbest.gz neural=fairseq.out -o test.nbest.gz
    rerank lists merge A=a.en B=b.en C=c.en --agreement chrf -o test.nbest.gz
    """  # noqa: D301
    from rerank_adapters.data.dataset import lists_size
    from rerank_adapters.formats.catalogue import FORMATS
    from rerank_adapters.formats.combination import combine, outputs_of_lines
    from rerank_adapters.formats.merging import without_lines
    from rerank_adapters.formats.reading import merge_files
    from rerank_adapters.formats.writing import check_written, open_lists
    from rerank_adapters.job.specs import Spec
    from rerank_adapters.runtime.progress import StatusLine, counted

    summary_line = SummaryLine()
    decoders = _by_decoder(nbest)
    if agreements and not decoders:
        raise ConfigError("--agreement compares the hypotheses of decoders with each other: name them, DECODER=FILE")
    if decoders:
        plain = set() if job.config.nbest else outputs_of_lines(decoders)
        one_each = FORMATS["plain"](n=1)
        formats = {name: one_each if name in plain else job.reading(files).format for name, files in decoders.items()}
        agreement = [_metric(job, text) for text in agreements]
        lists = combine({name: merge_files(paths, formats[name]) for name, paths in decoders.items()}, agreement)
    else:
        job = job.reading(nbest)
        lists = merge_files(nbest, job.format)
    form = form or ("moses" if decoders else None)
    written = Spec.read("format", form, job.names, "--as").make() if form else job.format
    if form:
        check_written(written, f"--as {form}", job.registry.known("format").values())
    segments = hypotheses = respelt = 0
    with open_lists(output, written) as out, StatusLine("merging"):
        for merged in lists:
            respelt += sum(written.spelling(text) != text for text in merged.texts) if form else 0
            out.write(without_lines(merged) if form else merged)
            segments, hypotheses = segments + 1, hypotheses + len(merged)
    if respelt:
        texts = counted(respelt, "hypothesis holds", "hypotheses hold")
        spelt = "line ends and tabs become spaces, and the bars of ||| &#124;"
        click.echo(f"rerank: warning: {texts} what ends a line or a column in this format: {spelt}", err=True)
    summary_line.wrote(lists_size(segments, hypotheses), output)


def _metric(job: Job, text: str) -> tuple[str, Metric]:
    """The name and the metric of NAME,option=value."""
    from rerank_adapters.job.specs import Spec, split_table

    table, ours, base = split_table("metric", text)
    label = str(ours.pop("label", table["use"]))
    return label, Spec.read("metric", table | ours, job.names, "--agreement", base).make()


def _by_decoder(files: tuple[str, ...]) -> dict[str, list[str]]:
    """The files of each decoder, if they are given as DECODER=FILE; otherwise none."""
    named = {file: DECODER.fullmatch(file) for file in files if not Path(file).exists()}
    if not any(named.values()):
        return {}
    decoders: dict[str, list[str]] = {}
    for file in files:
        match = named.get(file)
        if match is None:
            raise ConfigError(f"{file}: has no decoder's name, as other files have; wanted DECODER=FILE for each")
        decoders.setdefault(match[1], []).append(match[2])
    if len(decoders) < 2:
        raise ConfigError(f"all files are of the decoder {next(iter(decoders))!r}: give them without its name")
    return decoders
