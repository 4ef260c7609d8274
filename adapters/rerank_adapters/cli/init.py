"""`rerank init`: drafts the first config of a job from its files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from shlex import quote

import click

from rerank_adapters.cli.options import FILE, SummaryLine, format_option, output_file
from rerank_plugins.core.plugins import Registry

EXISTING = click.Path(exists=True, path_type=Path)


@click.command("init")
@click.argument("files", nargs=-1, type=EXISTING)
@click.option("-o", "--output", type=output_file, default="rerank.toml", show_default=True, metavar="CONFIG",
              help="Write the config to this file; `-` is stdout.")  # fmt: skip
@click.option("--tune", multiple=True, type=EXISTING, metavar="FILE", help="Lists to tune on. Repeatable.")
@click.option("--test", multiple=True, type=EXISTING, metavar="FILE", help="Lists to test on. Repeatable.")
@click.option("-r", "--reference", "references", multiple=True, type=EXISTING, metavar="FILE",
              help="A text that is a reference. Repeatable.")  # fmt: skip
@click.option("--source", "sources", multiple=True, type=EXISTING, metavar="FILE",
              help="A text that is a source. Repeatable.")  # fmt: skip
@click.option("--scores", multiple=True, type=FILE, metavar="FILE",
              help="Scores computed elsewhere, a line for each hypothesis; {set} stands for the name of each set of"
                   " lists, as in {set}.comet. Repeatable.")  # fmt: skip
@click.option("-w", "--weights", type=EXISTING, metavar="FILE", help="The decoder's weights, from which tuning starts.")
@click.option("-m", "--metric", type=click.Choice(["bleu", "wer"]),
              help="Tune for translations (bleu) or for speech (wer; cer for Chinese and the like).")  # fmt: skip
@click.option("--language", metavar="CODE", help="The language of the hypotheses, as en or de.")
@format_option
@click.option("--force", is_flag=True, help="Overwrite a config that exists.")
@click.option("--yes", is_flag=True, expose_value=False, help="Accepted for scripts: the command asks nothing.")
@click.pass_obj
def command(
    registry: Registry, files: tuple[Path, ...], output: Path, tune: tuple[Path, ...], test: tuple[Path, ...],
    references: tuple[Path, ...], sources: tuple[Path, ...], scores: tuple[Path, ...], weights: Path | None,
    metric: str | None, language: str | None, format_: str | None, force: bool,
) -> None:  # fmt: skip
    """Write a commented config for the FILES of a job.

    FILES are n-best lists, their references and sources, and n-gram models; or folders of these, as dev/ and test/.
    Which file is what, the format, the language, the tokenisation and sub-word pieces are read from the files, whose
    names say what is tuned on and what is tested. Options say what files do not show; the files that they name need
    not be named again. The config names the features that work with them, gives the cost of each on this machine,
    measured on some of the lists, and why others are left out. It has passed `rerank check` when it is written.

    \b
    rerank init tune.nbest tune.en tune.de test.nbest test.en test.de
    rerank init dev test --scores '{set}.comet'
    rerank init --tune lists.nbest -r refs.txt -o job.toml
    """  # noqa: D301
    from rerank_adapters.cli.first_config import Draft, Look
    from rerank_adapters.cli.job_files import JobFiles
    from rerank_adapters.job.config import Config
    from rerank_adapters.job.job import Job
    from rerank_adapters.job.specs import Names
    from rerank_adapters.run.check import check
    from rerank_adapters.runtime.progress import StatusLine, duration
    from rerank_plugins import ConfigError
    from rerank_plugins.kit.files.text import open_atomic

    summary_line = SummaryLine()
    if output.exists() and not force and str(output) != "-":
        raise ConfigError(f"{output}: exists already; overwrite it with --force, or name another file with -o")
    if not (files or tune or test):
        raise click.UsageError("Missing argument 'FILES...'.")
    by_role = {"tune": tune, "test": test, "reference": references, "source": sources}
    told = {path: role for role, paths in by_role.items() for path in paths}
    with StatusLine("reading the files"):
        job_files = JobFiles(Names(registry), format_, told, dict.fromkeys([*files, *told]))
        sets = job_files.sets()
        if sets[0].role != "tune" or not sets[0].references:
            needed = "lists to tune on" if sets[0].role != "tune" else "a reference for each list to tune on"
            raise ConfigError(f"{sets[0].path}: weights need {needed}; name the file too")
        draft = Draft(output, sets, Look.of(sets[0], metric, language), job_files.models, scores, weights)
    with StatusLine("measuring what features cost"):
        config = Config.model_validate({**tomllib.loads(draft.text()), "base": output.absolute().parent})
        found = check(Job.of(config, registry), costs=True)
    for finding in found.findings:
        if finding.level == "error":
            raise ConfigError(f"{finding.where}: {finding.text}")
        if finding.level == "warning" and "text = [" not in finding.text:  # the draft has the steps that it could tell
            click.echo(f"rerank: warning: {finding.where}: {finding.text}", err=True)
    for one in sets:
        click.echo(f"{'tune' if one.role == 'tune' else one.name}: {one}", err=True)
    if job_files.unused:
        click.echo(f"not used: {', '.join(map(str, job_files.unused))}", err=True)
    costs, notes = dict[str, str](), list[str]()
    if found.costs is not None:
        notes = [f"time: {next(found.costs.lines())}"]
        for cost in found.costs.costs:
            total = duration(cost.seconds * found.costs.texts)
            costs[cost.label] = f"{1000 * cost.seconds:.2g} ms a text, {total} of CPU time in all"
    with open_atomic(output) as stream:
        stream.write(draft.text(costs, notes))
    summary_line.wrote("a config", output)
    if str(output) != "-":
        click.echo(f"next: rerank check {quote(str(output))}; rerank run {quote(str(output))}", err=True)
    if len(sets) == 1:
        click.echo("without test lists `rerank run` tunes the weights and prints no scores of a test set", err=True)
