"""`rerank complete`: answers sentence completion questions."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.options import JobFlags, job_flags, output_file, text_option, text_steps
from rerank_plugins import ConfigError
from rerank_plugins.core.registry import Registry, suggestion


@click.command("complete")
@click.argument("questions", type=Path)
@click.option(
    "--answers", type=Path, metavar="FILE", help="Read the correct answers from this file, if QUESTIONS has none."
)
@click.option(
    "-w", "--weights", type=Path, metavar="FILE", help="Use these weights for all features instead of tuning them."
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Tune weights by cross-validation with this many folds.",
)
@text_option
@click.option(
    "--system",
    "system_files",
    multiple=True,
    metavar="NAME=FILE",
    help="Also report on another system, whose answers are in this file.",
)
@click.option("--baseline", metavar="NAME", help="Compare the other systems with this one. Default: the first.")
@click.option(
    "-o", "--output", type=output_file, metavar="FILE", help="Write the answers of all features together to this file."
)
@click.option("--choose", metavar="NAME", help="Write the answers of this system instead (-o).")
@click.option(
    "--lists",
    type=Path,
    metavar="PREFIX",
    help="Also write the questions as n-best lists: PREFIX.nbest and PREFIX.ref.",
)
@job_flags("features", "tuner", "config", "jobs", "seed")
@click.pass_obj
def command(
    registry: Registry,
    flags: JobFlags,
    questions: Path,
    answers: Path | None,
    weights: Path | None,
    folds: int,
    steps: tuple[str, ...],
    system_files: tuple[str, ...],
    baseline: str | None,
    output: Path | None,
    choose: str | None,
    lists: Path | None,
) -> None:
    """Answer QUESTIONS: choose the word for the blank.

    A question is a sentence with a blank, and options to fill it. Each column of each feature answers alone. All
    columns together answer with the weights of -w, or with weights that are tuned for accuracy on the other
    questions. Where the correct answers are known, tables show the accuracy of each system with its 95 % interval,
    and compare it with the first system by McNemar's test.

    \b
    rerank complete questions.tsv -f ngram-lm,model=lm.arpa -f unigram
    rerank complete testing_data.csv --answers test_answer.csv -c configs/completion.toml -o answers.tsv
    """  # noqa: D301
    from rerank_adapters.applications.completion import answering as completion
    from rerank_adapters.applications.completion.questions_file import answer_lines, read_questions
    from rerank_adapters.applications.completion.report import accuracy_tables
    from rerank_adapters.chain.job import Job
    from rerank_adapters.commands.closing import Closing, counted
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.terminal import print_table
    from rerank_adapters.text import TextPipeline
    from rerank_adapters.weights import read_weights
    from rerank_plugins.kit.files.text import open_atomic

    closing = Closing()
    job = Job.create(completion.completion_config(flags.settings), registry)
    job.check_options()
    text = TextPipeline(text_steps(steps))
    asked = read_questions(questions, answers)
    known = all(question.answer is not None for question in asked)
    if not known and output is None:
        raise ConfigError(f"{questions}: no answers to compare with; give --answers, or -o to write some")
    others = [completion.other_answers(system, asked) for system in system_files]
    fixed_weights = read_weights(weights) if weights else None
    data = completion.completion_data(asked, text)
    if lists is not None:
        completion.write_lists(job, data, lists)
        closing.wrote(counted(len(asked), "list"), f"{lists}.nbest")
        if known:
            closing.wrote(counted(len(asked), "reference"), f"{lists}.ref")
    ours = completion.answer_all(job, data, fixed_weights, folds)
    systems = {answered.system: answered for answered in [*ours, *others]}
    for name in (baseline, choose):
        if name is not None and name not in systems:
            raise ConfigError(f"no system named {name!r}{suggestion(name, systems)}")
    if known:
        for table in accuracy_tables(asked, list(systems.values()), baseline or ours[0].system):
            print_table(table, report_console())
    if output is not None:
        chosen = systems[choose or ours[-1].system]
        with open_atomic(output) as stream:
            stream.writelines(answer_lines(asked, chosen.choices.tolist()))
        closing.wrote(f"{counted(len(asked), 'answer')} of {chosen.system!r}", output)
