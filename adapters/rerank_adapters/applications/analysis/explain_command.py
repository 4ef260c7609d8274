"""`rerank explain`: explains why one hypothesis of a segment beats another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rerank_adapters.commands.options import PLUGIN_HELP, config_option, output_option, reference_form_option
from rerank_adapters.commands.shell_completion import plugin_names
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion

if TYPE_CHECKING:
    from rerank_adapters.formats.references import ReferenceForm


@click.command("explain")
@click.argument("segment", metavar="ID")
@click.argument("nbest", nargs=-1, metavar="[NBEST]...")
@config_option
@click.option("--work", type=Path, metavar="FOLDER",
              help="The work folder of the job. Default: the config's `work`, or work/NAME.")  # fmt: skip
@click.option("--set", "name", metavar="NAME",
              help="The data set of the job: tune, or the name of a [[test]]. Default: the first that has ID, test "
              "sets first.")  # fmt: skip
@click.option("-w", "--weights", type=Path, metavar="WEIGHTS",
              help="Explain NBEST lists by these weights (.toml) instead of a job.")  # fmt: skip
@click.option("-r", "--reference", "references", multiple=True, type=Path, metavar="FILE",
              help="References of the NBEST lists. Repeatable.")  # fmt: skip
@reference_form_option
@click.option("--source", type=Path, metavar="FILE", help="Source sentences of the NBEST lists, one line per segment.")
@click.option("-a", "--hypothesis", default="best", show_default=True, metavar="CHOICE",
              help="Hypothesis A: best, first, second, oracle, worst, a rank, or its text.")  # fmt: skip
@click.option("-b", "--against", metavar="CHOICE",
              help="Hypothesis B, chosen in the same way. Default: first, or second where A is first.")  # fmt: skip
@click.option("-p", "--parser", "parsers", multiple=True, metavar="PARSER",
              shell_complete=plugin_names("parser"),
              help=f"Show trees of this parser: {PLUGIN_HELP}; `none` shows no trees. Repeatable. Default: the parsers "
              "that the features use.")  # fmt: skip
@click.option("--features", type=click.IntRange(1), default=15, show_default=True,
              help="Show so many features, those of the largest contributions.")  # fmt: skip
@click.option("--layout", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="Print a report for people, or a JSON object.")  # fmt: skip
@output_option("Write the explanation to this file.")
@click.pass_obj
def command(
    registry: Registry, segment: str, nbest: tuple[str, ...], config: Path | None, work: Path | None, name: str | None,
    weights: Path | None, references: tuple[Path, ...], reference_form: ReferenceForm, source: Path | None,
    hypothesis: str, against: str | None, parsers: tuple[str, ...], features: int, layout: str, output: Path,
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
    import json

    from rerank_adapters.applications.analysis.explanation_report import explanation_lines
    from rerank_adapters.applications.analysis.segment import Segment
    from rerank_adapters.chain.explanation import explain, explanation_record
    from rerank_adapters.report.output import report_console
    from rerank_adapters.runtime.progress import StatusLine
    from rerank_plugins.kit.files.text import open_atomic

    if (config is None) == (weights is None):
        raise ConfigError("name a job by -c CONFIG, or lists with -w WEIGHTS (one of both)")
    if config is not None and (nbest or references or source):
        raise ConfigError("the job names its lists, references and source: give no others beside -c")
    if weights is not None and (work or name):
        raise ConfigError("--work and --set belong to a job: give -c instead of -w")
    if weights is not None and not references and {hypothesis, against} & {"oracle", "worst"}:
        raise ConfigError("the best and the worst hypothesis are known by references: give -r")
    if config is not None:
        found = Segment.of_job(registry, config, work, name, segment)
    else:
        assert weights is not None  # checked above
        if not nbest:
            raise ConfigError(f"name the n-best lists of segment {segment} beside -w")
        found = Segment.of_lists(registry, nbest, weights, references, reference_form, source, segment)
    known = [*found.job.config.parser, *found.job.registry.entries["parser"], "none"]
    for spec in parsers:
        if spec.partition(",")[0] not in known:
            raise ConfigError(f"--parser: no parser named {spec!r}{suggestion(spec, known)}")
    chosen = hypothesis, against or ("second" if hypothesis == "first" else "first")
    with StatusLine("scoring words and parsing"):
        explanation = explain(found.job, found.weights, found.nbest, found.references, found.table, chosen, parsers)
        if against is None and explanation.first.rank == explanation.second.rank and explanation.hypotheses > 1:
            click.echo("rerank: the decoder's 1-best stays the best; B is the second after reranking", err=True)
            chosen = hypothesis, "second"
            explanation = explain(found.job, found.weights, found.nbest, found.references, found.table, chosen, parsers)
    if layout == "json":
        lines = [json.dumps(explanation_record(explanation), ensure_ascii=False, indent=1)]
    else:
        lines = list(explanation_lines(explanation, features, min(report_console().width, 120)))
    with open_atomic(output) as out:
        out.writelines(f"{line}\n" for line in lines)
