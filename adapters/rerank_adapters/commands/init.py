"""`rerank init`: drafts the first config of a job from its files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from rerank_adapters.cli.options import FILE, SummaryLine, format_option, output_file
from rerank_plugins.core.plugins import Registry

if TYPE_CHECKING:
    from rerank_adapters.chain.config_draft.draft import Draft
    from rerank_adapters.run.check import Check

SLOW = 600.0  # seconds from which on the user is asked whether a feature stays


@click.command("init")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=output_file, default="rerank.toml", show_default=True, metavar="CONFIG",
              help="Write the config to this file; `-` is stdout.")  # fmt: skip
@click.option(
    "--tune",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Of the FILES, lists to tune on. Repeatable.",
)
@click.option(
    "--test",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Of the FILES, lists to test on. Repeatable.",
)
@click.option("-r", "--reference", "references", multiple=True, type=FILE, metavar="FILE",
              help="Of the FILES, a text that is a reference. Repeatable.")  # fmt: skip
@click.option("--source", "sources", multiple=True, type=FILE, metavar="FILE",
              help="Of the FILES, a text that is a source. Repeatable.")  # fmt: skip
@click.option("-m", "--metric", type=click.Choice(["bleu", "wer"]),
              help="Tune for translations (bleu) or for speech (wer; cer for Chinese and the like).")  # fmt: skip
@click.option("--language", metavar="CODE", help="The language of the hypotheses, as en or de.")
@format_option
@click.option("--force", is_flag=True, help="Overwrite a config that exists.")
@click.option("--yes", is_flag=True, help="Ask nothing; take the usual answer, or refuse where there is none.")
@click.pass_obj
def command(
    registry: Registry, files: tuple[Path, ...], output: Path, tune: tuple[Path, ...], test: tuple[Path, ...],
    references: tuple[Path, ...], sources: tuple[Path, ...], metric: str | None, language: str | None,
    format_: str | None, force: bool, yes: bool,
) -> None:  # fmt: skip
    """Write a commented config for the FILES of a job.

    FILES are n-best lists and whatever belongs to them: references, sources, speakers (utt2spk), scores of the
    hypotheses computed elsewhere (a line of numbers for each), the decoder's weights (moses.ini), n-gram models; or
    folders of such files, as dev/ and test/. Which file is what, the format, the language, the tokenisation and
    sub-word pieces are read from the files. The config names the features that work with them, gives the cost of each
    on this machine, measured on some of the lists, and why others are left out. It has passed `rerank check` when it is
    written.

    On a terminal, the command asks for what the files do not show; elsewhere, and with --yes, options must give it.

    \b
    rerank init tune.nbest tune.en tune.de test.nbest test.en test.de
    rerank init dev test
    rerank init lists.nbest refs.txt --tune lists.nbest -o job.toml
    """  # noqa: D301
    from rerank_adapters.chain.config_draft.assignment import assign, assign_scores, columns_of, lines_of, sets_of
    from rerank_adapters.chain.config_draft.draft import Draft
    from rerank_adapters.chain.config_draft.recognition import recognise
    from rerank_adapters.chain.config_draft.texts import look_of
    from rerank_adapters.runtime.progress import StatusLine, duration
    from rerank_adapters.text import whole_words
    from rerank_adapters.text.languages import UNSPACED, language_of
    from rerank_plugins import ConfigError
    from rerank_plugins.kit.files.text import open_atomic

    summary_line = SummaryLine()
    if output.exists() and not force and str(output) != "-":
        raise ConfigError(f"{output}: exists already; overwrite it with --force, or name another file with -o")
    asking = sys.stdin.isatty() and sys.stderr.isatty() and not yes

    def ask(question: str, answers: Sequence[str]) -> str | None:
        answer: str = click.prompt(question, type=click.Choice(answers), err=True) if asking else ""
        return answer or None

    with StatusLine("reading the files"):
        recognised = recognise(files, registry, format_, (*references, *sources))
    for path in (*tune, *test, *references, *sources):
        if path not in files and path not in recognised.of_folders:
            raise ConfigError(f"{path}: an option names this file, but it is not among the FILES")
    if len(recognised.weights) > 1:
        first, second, *_ = recognised.weights
        raise ConfigError(f"{second}: weights, as {first} is: a config starts from one file of weights")
    sets = sets_of(recognised.lists, tune, test, ask)
    unused = [*recognised.unused, *assign(recognised.texts, sets, sources, references, recognised.of_folders)]
    unused += assign_scores(recognised.scores, sets, recognised.of_folders)
    if sets[0].role != "tune" or not sets[0].references:
        missing = "lists to tune on" if sets[0].role != "tune" else "a reference for each list to tune on"
        raise ConfigError(f"{sets[0].lists[0].path}: weights need {missing}; name the file too")
    firsts, texts = sets[0].lists[0].firsts, lines_of(sets[0].references[0], sets[0].lists[0].ids)
    language = language or language_of(whole_words(texts)) or ask_language(asking)
    source = sets[0].sources
    source_language = language_of(whole_words(source)) if source else None
    if metric is None and language in UNSPACED and not source:
        metric = "wer"  # whose letters have no case that would show it
    look = look_of(firsts, texts, language, speech=metric == "wer" if metric else None)
    metric = metric or ("wer" if look.spoken and not source else "bleu")
    weights = next(iter(recognised.weights), None)
    columns, unmatched = columns_of(sets)
    draft = Draft(sets, metric, language, source_language, look, recognised.language_models, columns, weights)
    notes: list[str] = []
    with StatusLine("measuring what features cost"):
        found = _checked(draft, output, registry)
        refusals = [f.text for f in found.findings if f.level == "error" and f.where == "[tuning]"]
        if draft.weights is not None and refusals:
            notes.append(f"{draft.weights} is not the start of the tuning: {refusals[0]}")
            draft = replace(draft, weights=None)
            found = _checked(draft, output, registry)
    for finding in found.findings:
        if finding.level == "error":
            raise ConfigError(f"{finding.where}: {finding.text}")
        if finding.level == "warning":
            click.echo(f"rerank: warning: {finding.where}: {finding.text}", err=True)
    estimated = found.costs
    costs: dict[str, str] = {}
    for cost in estimated.costs if estimated is not None else ():
        assert estimated is not None  # as the loop has a cost
        total = cost.seconds * estimated.texts
        costs[cost.label] = f"{1000 * cost.seconds:.2g} ms a text, {duration(total)} of CPU time in all"
        slow = asking and total / estimated.processes > SLOW
        if slow and not click.confirm(f"{cost.label} takes {duration(total)}; is it wanted?", default=True, err=True):
            draft = replace(draft, left_out=(*draft.left_out, cost.label))
    notes += [f"time: {line}" for line in list(estimated.lines())[:1]] if estimated is not None else []
    text = draft.write(output, costs, notes)
    for one in sets:
        paths = ", ".join(str(file.path) for file in one.lists)
        beside = [f"references {', '.join(map(str, one.references))}"] if one.references else []
        beside += [f"source {one.source or 'in the lists'}"] if one.sources is not None else []
        beside += [f"groups {one.groups}"] if one.groups else []
        beside += [f"scores {', '.join(map(str, one.scores))}"] if one.scores else []
        click.echo(f"{'tune' if one.role == 'tune' else one.name}: {'; '.join([paths, *beside])}", err=True)
    if unmatched:
        click.echo(f"scores that not every set has, or under another name: {', '.join(map(str, unmatched))}", err=True)
    if unused:
        click.echo(f"not used: {', '.join(map(str, unused))}", err=True)
    with open_atomic(output) as stream:
        stream.write(text)
    summary_line.wrote("a config", output)
    if str(output) != "-":
        click.echo(f"next: rerank check {quote(str(output))}; rerank run {quote(str(output))}", err=True)
    if len(sets) == 1:
        click.echo("without test lists `rerank run` tunes the weights and prints no scores of a test set", err=True)


def ask_language(asking: bool) -> str | None:
    """The language that the user names, on a terminal; None elsewhere."""
    question = "The language of the hypotheses, as a code of two letters (none: leave it open)"
    answer: str = click.prompt(question, default="none", err=True) if asking else "none"
    return None if answer == "none" else answer


def _checked(draft: Draft, output: Path, registry: Registry) -> Check:
    """The check of a draft, with an estimate of its costs."""
    import tomllib

    from rerank_adapters.job.config import Config
    from rerank_adapters.job.job import Job
    from rerank_adapters.run.check import check

    config = Config.model_validate({**tomllib.loads(draft.write(output)), "base": output.absolute().parent})
    return check(Job.of(config, registry), costs=True)
