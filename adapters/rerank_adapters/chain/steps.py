"""Records the steps of a job in its work folder: what each was made from, and what it wrote.

A step is unchanged if a hash of everything that it depends on is the recorded one and its files have the recorded
content. Times of files do not count. A step that depends on something that cannot be told, such as the code of a plugin
file, is never unchanged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rerank_adapters.chain.contributions import families_together
from rerank_adapters.chain.extraction.known_values import value_identity
from rerank_adapters.chain.job import Job, Measure
from rerank_adapters.chain.provenance import EXTRACTING, recorded_tables
from rerank_adapters.config import DataSet
from rerank_adapters.weights import read_weights, trees_file
from rerank_plugins import __version__, open_atomic
from rerank_plugins.core.identity import code_of, describe, plain_hash

RECORD = "steps.json"

Inputs = Mapping[str, Any] | None  # plain values, which JSON can hold; None where they cannot be told
Print = Callable[[str], None]
OURS = ("rerank_plugins", "rerank_adapters")


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a job: what it makes for a data set (`set`, if it is for one), from what, and by which action.

    `inputs` tells what the step depends on; it is called when the step's turn comes, as the files of the steps before
    it may belong to that. `needs` are those files, and `files` what the step writes. `action` writes them, and may
    yield lines about its progress.
    """

    set: str
    name: str
    inputs: Callable[[], Inputs]
    files: Sequence[Path]
    action: Callable[[], Iterable[str] | None]
    needs: Sequence[Path] = ()

    @property
    def key(self) -> str:
        """The name of the step in the record."""
        return f"{self.set}: {self.name}" if self.set else self.name


@dataclass
class Steps:
    """The steps recorded in a work folder; with `force`, none of them counts."""

    folder: Path
    force: bool = False
    _recorded: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with suppress(OSError, ValueError):
            recorded = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
            self._recorded = recorded if isinstance(recorded, dict) and not self.force else {}

    def do(self, step: Step, show: Print) -> bool:
        """Do and record a step, or repeat its recorded lines if it is unchanged; return whether it was done."""
        inputs = step.inputs()
        lines = self._unchanged(step.key, inputs)
        shown = []
        for line in (step.action() or ()) if lines is None else lines:
            shown.append(line)
            show(line)
        if lines is None:
            self._record(step.key, inputs, step.files, shown)
        return lines is None

    def plan(self, steps: Iterable[Step]) -> Iterator[tuple[Step, bool]]:
        """Yield each step with whether it would be skipped as unchanged, without doing any.

        A step that needs the files of one that would be done is planned to be done too; `do` skips it nevertheless if
        those files come out as they were.
        """
        new: set[Path] = set()
        for step in steps:
            unchanged = new.isdisjoint(step.needs) and self._unchanged(step.key, step.inputs()) is not None
            if not unchanged:
                new.update(step.files)
            yield step, unchanged

    def _unchanged(self, name: str, inputs: Inputs) -> list[str] | None:
        """The recorded output of the step if its inputs and files have not changed since; otherwise None."""
        step: Any = self._recorded.get(name)
        try:
            if inputs is None or step["inputs"] != plain_hash(inputs) or not step["files"]:
                return None
            files = {file: file_hash(self.folder / file) for file in step["files"]}
            return [str(line) for line in step["said"]] if files == step["files"] else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def _record(self, name: str, inputs: Inputs, files: Sequence[Path], shown: Sequence[str]) -> None:
        """Record that the step has been done. Raises RerankError where the record cannot be written."""
        hashes = {file.name: file_hash(file) for file in files}
        self._recorded[name] = {"inputs": plain_hash(inputs), "files": hashes, "said": list(shown)}
        with open_atomic(self.folder / RECORD) as stream:
            stream.write(json.dumps(self._recorded, ensure_ascii=False, indent=1) + "\n")

    def recall(self, name: str, inputs: Inputs) -> Any:
        """The value that was remembered for these inputs; None if there is none."""
        step: Any = self._recorded.get(name)
        try:
            return step["value"] if inputs is not None and step["inputs"] == plain_hash(inputs) else None
        except (LookupError, TypeError, AttributeError):  # the record was edited
            return None

    def remember(self, name: str, inputs: Inputs, value: Any) -> None:
        """Remember a value that JSON can hold; it is written with the next step that is recorded."""
        self._recorded[name] = {"inputs": plain_hash(inputs), "value": value}


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a file; None if it is no plain file or cannot be read."""
    try:
        if not path.is_file():  # a pipe could be read only once
            return None
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def inputs_of_lists(job: Job, data: DataSet) -> Inputs:
    """What the needs of a job with lists depend on: the lists, the format, and the features that the job has."""
    features = [table.get("use") for table in job.config.feature]
    return _with_lists(job, data, (), {"features": features, "ranks": job.config.ranks})


def inputs_of_contributions(job: Job, data: DataSet, folder: Path, table: Path, weights: Path) -> Inputs:
    """What contributions depend on: all that the weights do, the weights, the folds, and what is judged together."""
    own = inputs_of_weights(job, data, folder, table)
    if own is None:
        return None
    tuned = read_weights(weights)
    folds = job.config.evaluation.contribution_folds
    learnt = [tuned.dense, tuned.sparse, tuned.trees is None]
    together = families_together(job.config.system, job.labels)
    return {**own, "folds": folds, "weights": learnt, "families": list(job.labels), "together": together}


def inputs_of_weight_intervals(
    job: Job, data: DataSet, folder: Path, table: Path, weights: Path, samples: int
) -> Inputs:
    """What weights with intervals depend on: all that the weights do, the weights, and the number of samples."""
    own = inputs_of_weights(job, data, folder, table)
    return None if own is None else {**own, "samples": samples, "weights": read_weights(weights).dense}


def inputs_of_features(job: Job, data: DataSet, folder: Path) -> Inputs:
    """What a feature table depends on: the lists, the format, and all features."""
    identities = {label: value_identity(job.plan, label) for label in job.labels}
    if not all(identity.lasting for identity in identities.values()):
        return None
    features = [[label, identity.text] for label, identity in identities.items()]
    own = {"features": features, "recorded": recorded_tables(job, folder, *EXTRACTING)}
    if data.unpaired == "leave-out":  # then the references say which lists there are
        own["references"] = _references(job, data)
    return _with_lists(job, data, (), own)


def inputs_of_weights(job: Job, data: DataSet, folder: Path, table: Path) -> Inputs:
    """What tuned weights depend on: the table, the lists with their references, the metric, and the tuner."""
    start = job.config.tuning.start
    own = {
        "recorded": recorded_tables(job, folder, *EXTRACTING, "metric"),
        "references": _references(job, data),
        "seed": job.config.seed,
        "start": file_hash(job.config.path(start)) if isinstance(start, str) else None,
        "table": file_hash(table),
        "tuner": [describe(job.tuner), job.margin],
        "tuning": job.config.tuning.model_dump(mode="json"),
    }
    return _with_lists(job, data, job.measures[:1], own)


def inputs_of_reranking(job: Job, data: DataSet, weights: Path, table: Path) -> Inputs:
    """What reranked lists depend on: the lists, their table, and the weights."""
    tuned = read_weights(weights)  # but not when they were tuned, which their file records
    own = {
        "references": _references(job, data),  # which say how many lines the 1-bests have
        "table": file_hash(table),
        "weights": [tuned.dense, tuned.sparse, tuned.decision, tuned.scale, tuned.evidence, tuned.margin],
        "trees": file_hash(trees_file(weights)) if tuned.trees is not None else None,
    }
    return _with_lists(job, data, job.measures[:1], own)


def inputs_of_report(
    name: str, job: Job, data: DataSet, best: Mapping[str, Path], weights: Path, table: Path, facts: Sequence[Path]
) -> Inputs:
    """What a report of the job `name` depends on: the 1-bests, references, metrics, weights, and the files `facts`."""
    settings, reranking = job.config.evaluation, inputs_of_reranking(job, data, weights, table)
    own = {
        "best": {system: file_hash(path) for system, path in best.items()},
        "groups": file_hash(job.config.path(data.groups)) if data.groups else None,
        "name": [name, data.name],
        "references": _references(job, data),
        "seed": job.config.seed,
        "tests": [settings.bootstrap, settings.randomisation, settings.resample_groups],
        "facts": [file_hash(file) for file in facts],
        "explained": settings.explained,
        "reranking": reranking,
    }
    return _with_lists(job, data, job.measures, own) if reranking is not None else None


def _with_lists(job: Job, data: DataSet, measures: Sequence[Measure], own: dict[str, Any]) -> Inputs:
    """The values with those of the lists, the format, the metrics and the code; None where these cannot be told."""
    paths = [*data.nbest, *([data.source] if data.source else [])]
    lists = [*(file_hash(job.config.path(path)) or "no file" for path in paths), str(bool(data.source))]
    metrics = [[measure.name, describe(measure.metric), measure.text.describe()] for measure in measures]
    own = {**own, "format": describe(job.format), "lists": lists, "metrics": metrics}
    sure, code = code_of(own, *OURS)
    known = sure and "no file" not in (lists + own.get("references", []))
    return {**own, "version": __version__, **code} if known else None


def _references(job: Job, data: DataSet) -> list[str]:
    files = (file_hash(job.config.path(path)) or "no file" for path in data.references)
    return [*files, data.reference_form, data.unpaired]
