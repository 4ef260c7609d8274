"""Does the steps of a run in their order, or plans them.

A step whose inputs have not changed since an earlier run, and whose files are as that run wrote them, is not repeated
(steps.py). Steps that analyse what the chain has made follow those of each data set; the caller names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.chain.lists import wanted_by, with_wanted
from rerank_adapters.chain.run import TUNE, Run
from rerank_adapters.chain.run_steps import features_step, lists_step, weights_step, with_lists
from rerank_adapters.chain.steps import Print, Record, Step
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.job.job import Job
from rerank_adapters.tuning.method import NAMED_STARTS
from rerank_plugins import ConfigError

Analyses = Callable[[Run, str], Iterable[Step]]  # the steps that analyse a data set, by its name


@dataclass(frozen=True)
class Files:
    """The files that belong to a run, and those of them that are new."""

    all: tuple[Path, ...]
    written: tuple[Path, ...]


def run_of(job: Job, record: Record, name: str, analyses: Analyses) -> Run:
    """The run of a job in the folder of a record, where what its lists need is kept, so that they need not be read.

    Raises ConfigError for wrong settings, and for a file of the run that is also read.
    """
    run = Run(job, record.folder, name)
    data = run.sets[TUNE]
    job.check()
    features = {"features": [table.get("use") for table in job.config.feature], "ranks": job.config.ranks}
    inputs = with_lists(job, data, (), features)
    wanted = record.recall("lists", inputs)
    if wanted is None:
        wanted = wanted_by(job, run.lists(TUNE).lists)
        record.remember("lists", inputs, wanted)
    run.job = with_wanted(job, wanted)
    tunings = [job.config.tuning, *(system.tuning for system in job.config.system if system.tuning)]
    starts = [tuning.start for tuning in tunings if isinstance(tuning.start, str) and tuning.start not in NAMED_STARTS]
    files = [path for data in run.sets.values() for path in data.files]
    read = {run.job.config.path(path).resolve() for path in (*map(Path, starts), *files)}
    for file in (file for step in all_steps(run, analyses) for file in step.files):
        if file.resolve() in read:
            raise ConfigError(f"{file}: is read and would be overwritten; move it, or set another folder as `work`")
    return run


def first_steps(run: Run, label: str) -> Iterator[Step]:
    """The steps of a system that does without some features, up to its 1-bests of all test sets."""
    for name in run.sets:
        yield features_step(run, name, label)
        yield _of_features(run, name, label)


def steps_of_set(run: Run, name: str, analyses: Analyses) -> Iterator[Step]:
    """The steps of a data set that are not first ones: those of the tuning, or those of a test set."""
    yield features_step(run, name)
    for label in run.systems:
        if label not in run.first:
            yield _of_features(run, name, label)
    yield from analyses(run, name)


def _of_features(run: Run, name: str, label: str) -> Step:
    """The step that needs the features of a data set: it tunes a system, or reranks with it."""
    return weights_step(run, label) if name == TUNE else lists_step(run, name, label)


def all_steps(run: Run, analyses: Analyses) -> list[Step]:
    """All steps of a run in their order."""
    first = [step for label in run.first for step in first_steps(run, label)]
    return [*first, *(step for name in run.sets for step in steps_of_set(run, name, analyses))]


def do(run: Run, record: Record, analyses: Analyses, show: Print) -> Files:
    """Do the steps of a run, and write feature tables, weights, 1-bests, reranked lists and analyses to its folder.

    `show` is called with each line about the progress.
    """
    steps: list[Step] = []
    done: list[Step] = []
    for label in run.first:
        first = list(first_steps(run, label))
        steps += first
        if new := [step for step in first if record.do(step, show)]:
            done += new
            for line in _first_scores(run, label):
                show(line)
    for name, data in run.sets.items():
        rest = list(steps_of_set(run, name, analyses))
        of_set = [*(step for step in steps if step.set == name), *rest]
        steps += rest
        done += [step for step in rest if record.do(step, show)]
        if reused := [step.name for step in of_set if step not in done]:
            show(f"{name}: unchanged, so not made again: {', '.join(reused)}")
        if not data.references:
            show(f"{name}: there are no references, so nothing is evaluated")
        run.forget(name)
    files, written = ((*(file for step in some for file in step.files), record.file) for some in (steps, done))
    return Files(files, written if done else ())


def _first_scores(run: Run, label: str) -> Iterator[str]:
    """A small table for each test set with references: the scores of the decoder and of a system."""
    for name in run.sets:
        if name == TUNE or not run.sets[name].references:
            continue
        data = run.lists(name).counted
        outputs = {"1-best": data.first_best, **run.outputs(name, label)}
        yield f"{name}, before the features that only other systems have:"
        for system, texts in outputs.items():
            scores = (f"{m.name} {_score(m, texts, data):.2f}" for m in run.job.measures)
            yield f"  {system:<{max(map(len, outputs))}}  {'  '.join(scores)}"


def _score(measure: Measure, texts: Sequence[str], data: Dataset) -> float:
    """The score of one text for each segment."""
    statistics = measure.statistics([[text] for text in texts], data.references, data.sources)
    return float(measure.metric.score(statistics.sum(axis=0)))
