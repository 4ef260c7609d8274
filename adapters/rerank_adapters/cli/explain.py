"""`rerank explain`: why one hypothesis of a segment beats another, in a finished job or in lists with weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli import options
from rerank_adapters.cli.options import plugin_names
from rerank_adapters.job.models import load_parser
from rerank_adapters.report.explanation import explanation_record
from rerank_adapters.report.explanation_lines import explanation_lines
from rerank_adapters.runtime.progress import StatusLine, warn
from rerank_adapters.weights import read_weights
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.plugins import Registry
from rerank_plugins.kit.files.standard_streams import data_stream

if TYPE_CHECKING:
    from rerank_adapters.data.content import ContentCheck
    from rerank_adapters.data.dataset import Dataset, Files
    from rerank_adapters.job.job import Job
    from rerank_plugins import NBestFormat


def data_with(
    segment: str, sets: Mapping[str, Files], form: NBestFormat, where: str, content: ContentCheck | None = None
) -> Dataset:
    """The first data set that has a segment, of files by name. Raises ConfigError where none has it."""
    from rerank_adapters.data.dataset import Dataset

    ids: list[str] = []
    for name, files in sets.items():
        data = Dataset.read(name, files, form, "tuning", content)
        warn([*data.findings, *data.doubts])
        if segment in data.ids:
            return data
        ids += data.ids
    raise ConfigError(f"{where} has no segment {segment!r}{suggestion(segment, ids)}")


def sets_of(job: Job, config: Path, name: str | None) -> dict[str, Files]:
    """The files of the data set of a name, or of all, those to test on first. Raises ConfigError for other names."""
    from rerank_adapters.job.job import TUNE

    sets = {test.name: job.files(test) for test in job.config.test}
    if job.config.tune is not None:
        sets[TUNE] = job.files(job.config.tune)
    if name is not None and name not in sets:
        raise ConfigError(f"{config}: no data set named {name!r}{suggestion(name, sets)}")
    return sets if name is None else {name: sets[name]}


@click.command("explain")
@click.argument("segment", metavar="ID")
@click.argument("nbest", nargs=-1, type=click.Path(), metavar="[NBEST]...")
@options.config_option
@click.option("--work", type=options.FILE, metavar="FOLDER",
              help="The work folder of the job.",
              show_default="the config's `work`, or work/NAME")  # fmt: skip
@click.option("--set", "name", metavar="NAME",
              help="The data set of the job: tune, or the name of a [[test]].",
              show_default="the first that has ID, test sets first")  # fmt: skip
@click.option("-w", "--weights", type=options.FILE, metavar="WEIGHTS",
              help="Explain NBEST lists by these weights (.toml) instead of a job.")  # fmt: skip
@options.files_options(required=False)
@options.trust_pairs_option
@click.option("-a", "--hypothesis", default="best", show_default=True, metavar="CHOICE",
              help="Hypothesis A: best, first, second, oracle, worst, a rank, or its text.")  # fmt: skip
@click.option("-b", "--against", metavar="CHOICE",
              help="Hypothesis B, chosen in the same way.",
              show_default="first, or second where A is first")  # fmt: skip
@click.option("-p", "--parser", "parsers", multiple=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"Show trees of this parser: {options.PLUGIN_HELP}; `none` shows no trees. Repeatable.",
              show_default="the parsers that the features use")  # fmt: skip
@click.option("--top", "features", type=click.IntRange(1), default=15, show_default=True,
              help="Show this many features, the largest contributions first.")  # fmt: skip
@click.option("--as", "form", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Print a report for people, or a JSON object.")  # fmt: skip
@click.pass_obj
def command(
    registry: Registry, segment: str, files: Files, config: Path | None, work: Path | None, name: str | None,
    weights: Path | None, trust_pairs: bool | None, hypothesis: str, against: str | None, parsers: tuple[str, ...],
    features: int, form: str,
) -> None:  # fmt: skip
    """Explain why a hypothesis of a segment beats another.

    For the segment ID, hypothesis A (the new 1-best) is compared with B (the decoder's 1-best): what each feature adds
    to the lead of A, weight × difference of the values; the scores of every word by each language model of the job; and
    the trees of both by the parsers of the features. CHOICE is one of

    \b
      best, second    the first and the second after reranking
      first           the first of the decoder
      oracle, worst   the best and the worst by the first metric
      7               a rank in the decoder's order, from 1
      'he is here .'  the text of a hypothesis

    The job is one that `rerank run` has done, named by its config; or lists are given with weights.

    \b
    rerank explain 17 -c configs/mt.toml --against oracle
    rerank explain 17 test.nbest.gz -w weights.toml -r test.en --source test.de
    """  # noqa: D301
    from rerank_adapters.apply import rerank
    from rerank_adapters.features.tables import check_same_lists
    from rerank_adapters.job.job import Job
    from rerank_adapters.report.output import report_console
    from rerank_adapters.run.explain import explain
    from rerank_adapters.run.run import weights_file, work_folder

    if (config is None) == (weights is None):
        raise ConfigError("give either -c CONFIG or -w WEIGHTS, not both")
    if config is not None and (files.lists or files.references or files.source):
        raise ConfigError("the job names its lists, references and source: give no others beside -c")
    if weights is not None and (work or name):
        raise ConfigError("--work and --set belong to a job: give -c instead of -w")
    if weights is not None and not files.references and {hypothesis, against} & {"oracle", "worst"}:
        raise ConfigError("the best and the worst hypothesis are known by references: give -r")
    if weights is not None and not files.lists:
        raise ConfigError(f"name the n-best lists of segment {segment} beside -w")
    folder = Path()
    if config is not None:
        own = options.job_of(config)
        folder = work or work_folder(own, config)
        weights = folder / weights_file()
        if not weights.is_file():
            raise ConfigError(f"{weights}: no such weights: `rerank run {config}` makes them")
    assert weights is not None  # checked above
    tuned = read_weights(weights)
    job = Job.of_record(tuned.provenance, weights, registry).changed(trust_pairs=trust_pairs)
    if config is not None:
        models = own.language_models  # also those that no feature uses
        where = f"the data set {name!r}" if name else f"{config}"
        data = data_with(segment, sets_of(own, config, name), own.format, where)
    else:
        job = job.reading(files.lists)
        models, content = job.language_models, job.content_check(styles=False)
        with job.reading_lists():
            data = data_with(segment, {"lists": files}, job.format, f"{files.lists[0]}", content)
    place, table_file = data.ids.index(segment), folder / f"{data.name}.npz"
    if config is not None and table_file.is_file():
        whole = FeatureTable.load(table_file)
        check_same_lists(data.lists, whole)
        table, _ = whole.take_segments([place])
    else:
        ((_, table),) = job.extraction().stream([data.lists[place]])
    known = [*job.config.parser, *registry.entries["parser"], "none"]
    for spec in parsers:
        if spec.partition(",")[0] not in known:
            raise ConfigError(f"--parser: no parser named {spec!r}{suggestion(spec, known)}")
    chosen = hypothesis, against or ("second" if hypothesis == "first" else "first")
    nbest, features_used = data.lists[place], job.features()
    ((_, rescored),) = rerank([(nbest, table)], tuned, job.measures[0], features=features_used, form=job.format)
    with StatusLine("scoring words and parsing"):
        explained = partial(
            explain,
            nbest,
            table,
            rescored,
            data.references[place],
            weights=tuned,
            features=features_used,
            measures=job.measures,
            form=job.format,
            models=models,
            parsers={spec: load_parser(spec, job.names) for spec in parsers if spec != "none"} if parsers else None,
        )
        explanation = explained(chosen)
        if against is None and explanation.first.rank == explanation.second.rank and explanation.hypotheses > 1:
            click.echo("rerank: the decoder's 1-best stays the best; B is the second after reranking", err=True)
            chosen = hypothesis, "second"
            explanation = explained(chosen)
    if form == "json":
        lines = [json.dumps(explanation_record(explanation), ensure_ascii=False, indent=1)]
    else:
        lines = list(explanation_lines(explanation, features, min(report_console().width, 120)))
    click.echo("\n".join(lines), data_stream())
