"""`rerank words complete`: answers sentence completion questions by reranking, and reports the accuracy.

The options to fill the blank of a question form an n-best list. Each column of the feature table is a system by itself;
the weighted sum of all columns is another one. Its weights are given by the user or tuned for accuracy by
cross-validation, so that no question is answered with weights tuned on it. Of options with equal values the first is
chosen, as everywhere.

questions.py reads the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rerank_adapters.applications.completion.questions import (
    Question,
    answer_lines,
    read_answers,
    read_questions,
    with_answers,
)
from rerank_adapters.cli import options
from rerank_adapters.cli.options import SummaryLine
from rerank_adapters.evaluation.proportions import mcnemar, wilson_interval
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.report.tables import Table
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import ConfigError, FeatureTable, FloatArray, NBestFormat, Tuner, TuningData
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.kit.files.text import open_atomic

if TYPE_CHECKING:
    from rerank_adapters.data.dataset import Dataset
    from rerank_adapters.evaluation.measure import Measure
    from rerank_adapters.features.feature import Feature
    from rerank_adapters.features.processes import Processes
    from rerank_adapters.job.job import Job

HEADER = ("system", "accuracy", "95 % interval", "right")
COMPARISON = ("system", "difference", "only this", "only that", "p")


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a system: `choices` (questions) has the position of the option chosen."""

    system: str
    choices: LongArray


def completion_data(questions: Sequence[Question], text: TextPipeline) -> Dataset:
    """N-best lists of the completions after the text pipeline; the reference is the right completion, if known."""
    from rerank_adapters.data.dataset import Dataset

    nbests = [q.nbest().with_texts(text.apply(q.completions())) for q in questions]
    right: list[tuple[str, ...]] = [
        () if q.answer is None else (n[q.answer].text,) for q, n in zip(questions, nbests, strict=True)
    ]
    return Dataset("questions", nbests, right)


def single_answers(table: FeatureTable) -> list[Answers]:
    """A system for each feature that differs between the options of some question; it chooses the highest value."""
    offsets = table.offsets
    systems = []
    for column, name in enumerate(table.names):
        values = table.values[:, column]
        spread = np.maximum.reduceat(values, offsets[:-1]) - np.minimum.reduceat(values, offsets[:-1])
        if spread.any():
            systems.append(Answers(name, one_best(values, offsets) - offsets[:-1]))
    if not systems:
        raise ConfigError("no feature gives the options of any question different values")
    return systems


def other_answers(argument: str, questions: Sequence[Question]) -> Answers:
    """The answers of a system from NAME=FILE. Raises ConfigError, and FormatError as `read_answers` does."""
    name, equals, path = argument.partition("=")
    if not (name and equals and path):
        raise ConfigError(f"--system {argument!r}: wanted NAME=FILE")
    answers = read_answers(path, len(questions[0].options))
    return Answers(name, np.array([q.answer for q in with_answers(questions, answers, path)], np.int64))


def write_lists(data: Dataset, format_: NBestFormat, prefix: Path) -> None:
    """Write the lists to PREFIX.nbest in the format, numbered from 0; and PREFIX.ref if all answers are known."""
    with open_lists(f"{prefix}.nbest", format_) as out:
        for number, nbest in enumerate(data.lists):
            out.write(replace(nbest, segment_id=str(number)))
    if all(data.references):
        with open_atomic(f"{prefix}.ref") as out:
            out.writelines(f"{right[0]}\n" for right in data.references)


def weighted_answers(
    data: Dataset, table: FeatureTable, weights: Weights, measure: Measure, features: Sequence[Feature]
) -> Answers:
    """All features together with weights. Raises ConfigError for weights of other features."""
    from rerank_adapters.apply import pairs_of, rerank

    pairs, metric = pairs_of(data.lists, table), measure if weights.decision == "mbr" else None
    orders = [rescored.order for _, rescored in rerank(pairs, weights, metric, features=features)]
    return Answers("weighted", np.array([order[0] for order in orders], np.int64))


def combined_answers(
    problem: TuningData, tuner: Tuner, start: FloatArray, folds: int, seed: int, processes: Processes
) -> Answers:
    """All features together; each question is answered with weights tuned on the folds that it is not in."""
    from rerank_adapters.tuning.held_out import held_out

    return Answers(f"all, {folds}-fold", held_out(problem, tuner, start, folds, seed, processes).positions)


def accuracy_tables(questions: Sequence[Question], systems: Sequence[Answers], baseline: str) -> list[Table]:
    """The comparison of each system with the `baseline` (its name), then the accuracy of each, a row for each system.

    All answers must be known.
    """
    answers = np.array([question.answer for question in questions], np.int64)
    right = {system.system: system.choices == answers for system in systems}
    rows, compared = [], []
    for name, correct in right.items():
        low, high = wilson_interval(int(correct.sum()), len(correct))
        accuracy = f"{100 * correct.mean():.1f} %", f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append((name, *accuracy, f"{correct.sum()} of {len(correct)}"))
        if name != baseline:
            test = mcnemar(correct, right[baseline])
            difference = 100 * (correct.mean() - right[baseline].mean())
            counts = str(test.first_only), str(test.second_only)
            compared.append((name, f"{difference:+.1f}", *counts, f"{test.p_value:.3g}"))
    guessing = 100 * np.mean([1 / len(question.options) for question in questions])
    tables = []
    if compared:
        notes = (
            "The difference of accuracies is in percentage points. `only this` counts the",
            "questions that this system alone answers correctly, `only that` those of the",
            "baseline. p: McNemar's exact test.",
        )
        tables = [Table(f"Compared with {baseline}", COMPARISON, tuple(compared), notes)]
    note = f"Guessing would reach {guessing:.1f} %. The intervals are Wilson's."
    return [*tables, Table("Sentence completion", HEADER, tuple(rows), (note,))]


@click.command("complete")
@click.argument("questions", type=options.FILE)
@click.option("--answers", type=options.FILE, metavar="FILE",
              help="Read the correct answers from this file, if QUESTIONS has none.")  # fmt: skip
@click.option("-w", "--weights", type=options.FILE, metavar="FILE",
              help="Use these weights for all features instead of tuning them.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True,
              help="Tune weights by cross-validation with this many folds.")  # fmt: skip
@options.text_option
@click.option("--system", "system_files", multiple=True, metavar="NAME=FILE",
              help="Also report on another system, whose answers are in this file.")  # fmt: skip
@click.option("--baseline", metavar="NAME", help="Compare the other systems with this one.", show_default="the first")
@click.option("-o", "--output", type=options.output_file, metavar="FILE",
              help="Write the answers of all features together to this file.")  # fmt: skip
@click.option("--lists", type=options.FILE, metavar="PREFIX",
              help="Also write the questions as n-best lists: PREFIX.nbest and PREFIX.ref.")  # fmt: skip
@options.job_options("features", "tuner", "config", "jobs", "seed")
def command(
    job: Job, questions: Path, answers: Path | None, weights: Path | None, folds: int, steps: tuple[str, ...],
    system_files: tuple[str, ...], baseline: str | None, output: Path | None, lists: Path | None,
) -> None:  # fmt: skip
    """Answer QUESTIONS: choose the word for the blank.

    A question is a sentence with a blank, and options to fill it. Each column of each feature answers by itself. All
    columns together answer with the weights of -w, or with weights that are tuned for accuracy on the other
    questions. Where the correct answers are known, tables show the accuracy of each system with its 95 % interval,
    and compare it with the first system by McNemar's test.

    \b
    rerank words complete questions.tsv -f ngram-lm,model=lm.arpa -f unigram
    rerank words complete testing_data.csv --answers test_answer.csv \\
        -f dependency-lm -o answers.tsv
    """  # noqa: D301
    from rerank_adapters.data.overlap import warn_if_tuned_on
    from rerank_adapters.report.output import report_console
    from rerank_adapters.report.terminal import print_table
    from rerank_adapters.run.learn import tuning_problem
    from rerank_adapters.tuning.held_out import tuner_with_margin

    summary_line = SummaryLine()
    metric = None if "metric" in job.config.model_fields_set else [{"use": "accuracy"}]
    job = job.changed(metric=metric, ranks=False)  # the order of the options means nothing
    job.check()
    text = TextPipeline(options.text_steps(steps))
    items = read_questions(questions, answers)
    known = all(question.answer is not None for question in items)
    if not known and output is None:
        raise ConfigError(f"{questions}: no answers to compare with; give --answers, or -o to write some")
    others = [other_answers(system, items) for system in system_files]
    fixed_weights = read_weights(weights) if weights else None
    data = completion_data(items, text)
    if fixed_weights is not None and known:
        warn_if_tuned_on(fixed_weights.provenance, data.references, str(questions))
    if lists is not None:
        write_lists(data, job.format, lists)
        summary_line.wrote(counted(len(items), "list"), f"{lists}.nbest")
        if known:
            summary_line.wrote(counted(len(items), "reference"), f"{lists}.ref")
    extraction, measure = job.extraction(), job.measures[0]
    if not extraction.features:
        raise ConfigError("nothing to answer with: give features with -f or a config")
    table = extraction.table(data.lists)
    ours = single_answers(table)
    if fixed_weights is not None:
        ours.append(weighted_answers(data, table, fixed_weights, measure, extraction.features))
    elif known and len(table.names) > 1:
        (problem, start), tuner = tuning_problem(job, data, table), tuner_with_margin(job.tuner, job.margin)
        ours.append(combined_answers(problem, tuner, start, folds, job.config.seed, extraction.processes))
    systems = {answered.system: answered for answered in [*ours, *others]}
    if baseline is not None and baseline not in systems:
        raise ConfigError(f"no system named {baseline!r}{suggestion(baseline, systems)}")
    if known:
        for compared in accuracy_tables(items, list(systems.values()), baseline or ours[0].system):
            print_table(compared, report_console())
    if output is not None:
        chosen = ours[-1]
        with open_atomic(output) as stream:
            stream.writelines(answer_lines(items, chosen.choices.tolist()))
        summary_line.wrote(f"{counted(len(items), 'answer')} of {chosen.system!r}", output)
