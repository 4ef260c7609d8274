"""`rerank apply`: reranks n-best lists by weights."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.runtime.progress import counted
from rerank_plugins.core.plugins import Registry

if TYPE_CHECKING:
    from rerank_adapters.texts.one_bests import OutputForm


@click.command("apply")
@click.argument("nbest", nargs=-1, required=True, type=click.Path(), metavar="NBEST...")
@click.option("-w", "--weights", type=options.FILE, required=True, metavar="FILE",
              help="Rerank by these weights: a weights.toml, or weights of Moses.")  # fmt: skip
@options.output_option("Write the 1-bests to this file, one line per list.")
@click.option(
    "--as", "form", type=click.Choice(["lines", "kaldi", "trn", "ctm"]),
    help="Write the 1-bests as lines, with the ids of their segments in front (kaldi) or at the end (trn), or as "
         "CTM.",
    show_default="lines where the ids are numbers of lines, else kaldi",
)  # fmt: skip
@click.option(
    "--segments", type=options.FILE, metavar="FILE",
    help="The times of the utterances for a CTM: `utterance recording start end` a line, as Kaldi has them.",
)  # fmt: skip
@click.option("--nbest-out", type=options.output_file, metavar="FILE",
              help="Also write the reranked lists, with the new features and totals.")  # fmt: skip
@click.option("--table", type=options.FILE, metavar="TABLE",
              help="Take features from this table; those that the weights need and it lacks are "
              "extracted.")  # fmt: skip
@click.option(
    "--stream/--no-stream", default=None,
    help="Write the result of each list as soon as the list is complete, in one process and in the order in which"
         " the lists come; or gather batches, and write the 1-bests in the order of ids.",
    show_default="at once and in the order of ids where `-` is a pipe or a terminal and the results go to stdout,"
                 " otherwise in batches",
)  # fmt: skip
@options.source_option
@options.set_option
@options.format_option
@options.jobs_option
@click.pass_obj
def command(
    registry: Registry, nbest: tuple[str, ...], weights: Path, output: Path, form: OutputForm | None,
    segments: Path | None,
    nbest_out: Path | None, table: Path | None, stream: bool | None, source: Path | None, set_name: str | None,
    format_: str | None, jobs: int | None,
) -> None:  # fmt: skip
    """Rerank n-best lists, and write the new 1-best of each.

    The 1-bests are written in the order of ids, whatever the order of the lists: the line with number i is that of
    segment i, and a segment without a list has an empty line. Ids that are no such numbers stand before the 1-bests
    (--as). The lists of --nbest-out keep their order.

    A weights.toml records the features it was tuned for; they are extracted while the lists are read, in bounded
    memory, or come from a cache (`rerank tools cache`). With --table, or with several files, which are merged, all
    lists are read into memory first. A warning says in numbers where the lists are unlike those of the tuning.

    Behind a decoder, in a pipe, the result of a list is written as soon as the list is complete: a list in a line of
    JSON with the line, plain text with the last of its lines, others when the next list begins. Name the format, since
    40 lines are read to guess it. Lists in another order than that of their ids are an error then, unless --stream
    takes them as they come. With --stream, ids may come again: each run of lines is a list.

    \b
    decoder ... | rerank apply - -w weights.toml --format moses
    rerank apply test.nbest.gz -w weights.toml -o test.1best \\
        --nbest-out test.reranked.gz
    """  # noqa: D301
    from rerank_adapters.apply import pairs_of, rerank
    from rerank_adapters.data.unlike import ListFacts, unlike_tuning
    from rerank_adapters.formats.reading import read_nbest, stream_nbest
    from rerank_adapters.formats.writing import open_lists
    from rerank_adapters.job.job import Job
    from rerank_adapters.job.specs import SET
    from rerank_adapters.texts.one_bests import OneBestFile, StreamingOneBests, read_segments
    from rerank_adapters.texts.sources import Sources
    from rerank_adapters.weights import read_weights
    from rerank_plugins import ConfigError, FeatureTable
    from rerank_plugins.kit.files.text import arrives, open_atomic

    summary_line = SummaryLine()
    tuned = read_weights(weights)
    job = Job.of_record(tuned.provenance, weights, registry)
    paths = [Path(path) for path in nbest]
    job = job.changed(nbest=format_, jobs=jobs).reading(paths)
    extraction = job.extraction(set_name or SET)
    alone = table is None and len(paths) == 1
    at_once = alone and ((arrives(paths[0]) and str(output) == "-") if stream is None else stream)
    if stream and not alone:
        raise ConfigError("--stream takes one file of lists, and no --table")
    sources = Sources(source) if source is not None else None
    sentence = None if sources is None else sources.of
    if table is not None:
        with job.reading_lists(format_):
            read_lists = read_nbest(paths, job.format, sentence)
        columns = extraction.columns(read_lists, FeatureTable.load(table), table, all_columns=True)
        pairs = pairs_of(read_lists, columns)
    else:
        reads = stream_nbest if len(paths) == 1 else read_nbest
        pairs = extraction.stream(reads(paths, job.format, sentence, repeated=bool(stream)), at_once=at_once)
    advice = "" if table else "; if it was computed elsewhere, name a table of these lists that has it with --table"
    spans = read_segments(segments) if segments is not None else None
    arriving, texts, lists_read = StreamingOneBests(form, spans, any_order=bool(stream)), dict[str, str](), 0
    measure = job.measures[0] if tuned.decision == "mbr" else None
    facts = ListFacts()
    with job.reading_lists(format_), ExitStack() as files:
        best = files.enter_context(open_atomic(output))
        ranked = files.enter_context(open_lists(nbest_out, job.format)) if nbest_out else None
        for read, rescored in rerank(
            pairs, tuned, measure, features=extraction.features, form=job.format, advice=advice, facts=facts
        ):
            text, lists_read = read[rescored.order[0]].text, lists_read + 1
            if ranked is not None:
                ranked.write(read, rescored)
            if at_once:
                best.writelines(arriving.lines(read, text))
                best.flush()
                if ranked is not None:
                    ranked.flush()
            else:
                texts[read.segment_id] = text
        one_bests = OneBestFile.of(texts, form, sources.numbers if sources is not None else ())
        best.writelines(one_bests.lines(spans))
    if finding := (arriving if at_once else one_bests).finding:
        click.echo(f"rerank: warning: {finding}", err=True)
    if unlike := unlike_tuning(tuned.provenance, facts):
        click.echo(f"rerank: warning: {unlike}", err=True)
    if nbest_out:
        summary_line.wrote("the reranked lists", nbest_out)
    summary_line.wrote(counted(lists_read, "1-best"), output)
