"""`rerank parse`: text or n-best lists to CoNLL-U; or a parser against gold trees."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import PLUGIN_HELP, JobFlags, job_flags, output_option
from rerank_plugins import ConfigError
from rerank_plugins.plugins import Registry


@click.command("parse")
@click.argument("text", required=False)
@click.option("--nbest", multiple=True, metavar="LIST", help="N-best lists, instead of a text. Repeatable.")
@click.option("--evaluate", "gold", multiple=True, metavar="GOLD", help="Gold trees to compare with. Repeatable.")
@click.option("-p", "--parser", default="english", show_default=True, metavar="PARSER", help=f"{PLUGIN_HELP}.")
@output_option("Where the CoNLL-U goes.")
@job_flags("config", "format_", "jobs")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    text: str | None,
    nbest: tuple[str, ...],
    gold: tuple[str, ...],
    parser: str,
    output: Path,
) -> None:
    """Parse a TEXT (one tokenised sentence per line), or the distinct hypotheses of n-best lists, to CoNLL-U.

    What is parsed is kept in the cache of parses (`rerank cache`): an interrupted run goes on where it stopped, and
    features that use the same parser find its trees there. `# sent_id` is the line of a text, or the segment and the
    rank of a hypothesis; sentences without a parse are left out, and counted. With --evaluate: accuracy of tags
    (UPOS), attachment scores (UAS, LAS) over all words, and sentences a second of CPU, for each GOLD file.

    \b
    rerank parse corpus.en.xz -o corpus.conllu.xz
    rerank parse --nbest tune.nbest.gz --parser udpipe,model=english.udpipe -o tune.conllu
    rerank parse --evaluate dev.conllu.xz
    """  # noqa: D301
    from rerank_adapters.tasks.job import Job
    from rerank_adapters.tasks.parsing import build_parser, evaluate_parser, write_parses

    if sum(map(bool, (text, nbest, gold))) != 1:
        raise ConfigError("give one of: a TEXT (- for stdin), --nbest LIST, --evaluate GOLD")
    job = Job.create(flags.settings, registry)
    chosen = build_parser(job, parser)
    if gold:
        click.echo("\t".join(["gold", "sentences", "words", "UPOS", "UAS", "LAS", "sentences/s"]))
        for path in gold:
            scores, sentences, seconds = evaluate_parser(chosen.parser, path)
            percents = [f"{value:.2f}" for value in scores.percent().values()]
            pace = f"{sentences / max(seconds, 1e-9):.0f}"
            click.echo("\t".join([Path(path).name, str(sentences), str(scores.words), *percents, pace]))
        return
    counts = write_parses(job, chosen, text, [Path(path) for path in nbest], output)
    without = f", {counts.without} without a parse" if counts.without else ""
    click.echo(f"{counts.sentences} sentences, {counts.parsed} parsed now{without}", err=True)
