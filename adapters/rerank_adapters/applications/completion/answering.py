"""Sentence completion as reranking: the options of a question make its n-best list, features and weights choose.

Each column of the feature table is a system that answers alone; a weighted sum of all is one more, with weights that
are given, or tuned for accuracy on the other questions (cross-validation): no question is answered by weights that saw
it. Of equal values the earlier option is chosen, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rerank_adapters.applications.completion.questions_file import Question, read_answers, with_answers
from rerank_adapters.config import Config
from rerank_adapters.formats.compressed import open_atomic
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.pipeline.apply import apply_weights, table_pairs
from rerank_adapters.pipeline.extract import extract_with
from rerank_adapters.pipeline.job import Data, Job
from rerank_adapters.pipeline.tune import start_weights, tuning_data
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.one_best import one_best
from rerank_adapters.tuning.held_out import held_out_choices
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.arrays import LongArray


@dataclass(frozen=True, eq=False)
class Answers:
    """What a system answers: (questions) the position of the option that it chooses."""

    system: str
    choices: LongArray


def completion_config(config: Config) -> Config:
    """The config, its metric accuracy unless it names one."""
    return (
        config if "metric" in config.model_fields_set else config.model_copy(update={"metric": [{"use": "accuracy"}]})
    )


def completion_data(questions: Sequence[Question], text: TextPipeline) -> Data:
    """The completions through a text pipeline, as n-best lists; the reference is the right completion, where known."""
    nbests = [q.nbest().with_texts(text.apply(q.completions())) for q in questions]
    right: list[tuple[str, ...]] = [
        () if q.answer is None else (n[q.answer].text,) for q, n in zip(questions, nbests, strict=True)
    ]
    return Data("questions", nbests, right)


def completion_table(job: Job, data: Data) -> FeatureTable:
    """The job's features of all completions. Raises ConfigError where the job has none."""
    if not job.labels:
        raise ConfigError("nothing to answer with: give features with -f or a config")
    return extract_with(job, data.nbests, decoder_table(data.nbests))


def single_answers(table: FeatureTable) -> list[Answers]:
    """A system for each feature column that tells the options of some question apart; each takes the highest value."""
    offsets = table.offsets
    systems = []
    for column, name in enumerate(table.names):
        values = table.values[:, column]
        spread = np.maximum.reduceat(values, offsets[:-1]) - np.minimum.reduceat(values, offsets[:-1])
        if spread.any():
            systems.append(Answers(name, one_best(values, offsets) - offsets[:-1]))
    if not systems:
        raise ConfigError("no feature tells the options of any question apart")
    return systems


def combined_answers(job: Job, data: Data, table: FeatureTable, folds: int) -> Answers:
    """All features together, each question answered by weights tuned on the folds that it is not in."""
    problem = tuning_data(job, data, table)
    start = start_weights(job, data, table)
    choices = held_out_choices(problem, job.tuner, start, folds, job.config.seed)
    return Answers(f"all, {folds}-fold", choices)


def weighted_answers(job: Job, weights: Weights, data: Data, table: FeatureTable) -> Answers:
    """All features together, by given weights. Raises ConfigError where these are for other features."""
    chosen = apply_weights(job, weights, table_pairs(data.nbests, table))
    return Answers("weighted", np.array([rescored.order[0] for _, rescored in chosen], np.int64))


def other_answers(given: str, questions: Sequence[Question]) -> Answers:
    """The answers in a file, given as NAME=FILE. Raises ConfigError, and FormatError as the reader does."""
    name, equals, path = given.partition("=")
    if not (name and equals and path):
        raise ConfigError(f"--system {given!r}: wanted NAME=FILE")
    found = read_answers(path, len(questions[0].options))
    return Answers(name, np.array([q.answer for q in with_answers(questions, found, path)], np.int64))


def write_lists(job: Job, data: Data, prefix: Path) -> None:
    """The lists as PREFIX.nbest, in the job's format, ids counted from 0; and, where known, PREFIX.ref."""
    with open_atomic(f"{prefix}.nbest") as out:
        for number, nbest in enumerate(data.nbests):
            out.writelines(job.format.write(replace(nbest, segment_id=str(number))))
    if all(data.references):
        with open_atomic(f"{prefix}.ref") as out:
            out.writelines(f"{right[0]}\n" for right in data.references)


def answer_all(job: Job, data: Data, weights: Weights | None, folds: int) -> list[Answers]:
    """Every system of the job: its columns; then all, by given weights or, where answers are known, tuned ones."""
    table = completion_table(job, data)
    systems = single_answers(table)
    if weights is not None:
        return [*systems, weighted_answers(job, weights, data, table)]
    if all(data.references) and len(table.names) > 1:
        return [*systems, combined_answers(job, data, table, folds)]
    return systems
