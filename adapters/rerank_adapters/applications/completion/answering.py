"""Answers completion questions by reranking: the options form an n-best list, and weighted features choose one.

Each column of the feature table is a system by itself; the weighted sum of all columns is another one. Its weights are
given by the user or tuned for accuracy by cross-validation, so that no question is answered with weights tuned on it.
options with equal values the first is chosen, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rerank_adapters.applications.completion.questions_file import Question, read_answers, with_answers
from rerank_adapters.chain.apply import apply_weights, table_pairs
from rerank_adapters.chain.extract import extract_with
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.tune import start_weights, tuning_data
from rerank_adapters.chain.tuning.cross_validation import held_out_choices
from rerank_adapters.config import Config
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_adapters.weights import Weights
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.kit.files.text import open_atomic


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a system: `choices` (questions) has the position of the option chosen."""

    system: str
    choices: LongArray


def completion_config(config: Config) -> Config:
    """The config, with accuracy as its metric unless it names one."""
    return (
        config if "metric" in config.model_fields_set else config.model_copy(update={"metric": [{"use": "accuracy"}]})
    )


def completion_data(questions: Sequence[Question], text: TextPipeline) -> Data:
    """N-best lists of the completions after the text pipeline; the reference is the right completion, if known."""
    nbests = [q.nbest().with_texts(text.apply(q.completions())) for q in questions]
    right: list[tuple[str, ...]] = [
        () if q.answer is None else (n[q.answer].text,) for q, n in zip(questions, nbests, strict=True)
    ]
    return Data("questions", nbests, right)


def completion_table(job: Job, data: Data) -> FeatureTable:
    """The job's features of all completions. Raises ConfigError if the job has no features."""
    if not job.labels:
        raise ConfigError("nothing to answer with: give features with -f or a config")
    return extract_with(job, data.nbests, decoder_table(data.nbests))


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


def combined_answers(job: Job, data: Data, table: FeatureTable, folds: int) -> Answers:
    """All features together; each question is answered with weights tuned on the folds that it is not in."""
    problem = tuning_data(job, data, table)
    start = start_weights(job, data, table)
    choices = held_out_choices(problem, job.tuner, start, folds, job.config.seed)
    return Answers(f"all, {folds}-fold", choices)


def weighted_answers(job: Job, weights: Weights, data: Data, table: FeatureTable) -> Answers:
    """All features together, with these weights. Raises ConfigError if the weights are for other features."""
    chosen = apply_weights(job, weights, table_pairs(data.nbests, table))
    return Answers("weighted", np.array([rescored.order[0] for _, rescored in chosen], np.int64))


def other_answers(argument: str, questions: Sequence[Question]) -> Answers:
    """The answers of a system from NAME=FILE. Raises ConfigError, and FormatError as `read_answers` does."""
    name, equals, path = argument.partition("=")
    if not (name and equals and path):
        raise ConfigError(f"--system {argument!r}: wanted NAME=FILE")
    answers = read_answers(path, len(questions[0].options))
    return Answers(name, np.array([q.answer for q in with_answers(questions, answers, path)], np.int64))


def write_lists(job: Job, data: Data, prefix: Path) -> None:
    """Write the lists to PREFIX.nbest in the job's format, numbered from 0; and PREFIX.ref if all answers are known."""
    with open_atomic(f"{prefix}.nbest") as out:
        for number, nbest in enumerate(data.nbests):
            out.writelines(job.format.write(replace(nbest, segment_id=str(number))))
    if all(data.references):
        with open_atomic(f"{prefix}.ref") as out:
            out.writelines(f"{right[0]}\n" for right in data.references)


def answer_all(job: Job, data: Data, weights: Weights | None, folds: int) -> list[Answers]:
    """Each feature by itself, then all together: with `weights` or, if the answers are known, with tuned weights."""
    table = completion_table(job, data)
    systems = single_answers(table)
    if weights is not None:
        return [*systems, weighted_answers(job, weights, data, table)]
    if all(data.references) and len(table.names) > 1:
        return [*systems, combined_answers(job, data, table, folds)]
    return systems
