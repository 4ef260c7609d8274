"""A job in a folder: its stages in their order, and the files that they make.

    of each data set       SET.npz                     the features of its lists
    of those of `tune`     weights.toml                tuned weights
                           contributions.json          what each feature contributes to them
                           intervals.json              how much they depend on the lists
    of each test set       SET.1best, SET.nbest.gz     its lists in their new order
                           SET.report.json, .html      the systems, compared with its references

A system (`[[system]]`) has weights and 1-bests of its own. Those that do without some features come first, with tables
of their own: their features are the cheap ones, and a first table of scores stands before the others are extracted.

A stage is a function that writes files, with a key: the identity of the files and settings that it reads itself, and
the keys of the stages whose files it needs. Keys read no lists; these are read for a stage that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import filterfalse
from pathlib import Path
from uuid import uuid4

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.job.config import System
from rerank_adapters.job.job import RERANKED, TUNE, Job, name_in_files
from rerank_adapters.run.check import attempt, plugin_findings, raise_first
from rerank_adapters.run.sets import Sets
from rerank_adapters.run.workdir import Workdir
from rerank_adapters.run.writing import (
    outputs_of,
    read_contributions,
    score_lines,
    write_contributions,
    write_features,
    write_intervals,
    write_lists,
    write_report,
    write_tuned,
)
from rerank_adapters.tuning.families import Contributions
from rerank_adapters.tuning.held_out import HeldOutGain
from rerank_adapters.tuning.start import NAMED_STARTS
from rerank_adapters.tuning.weight_intervals import usual_samples
from rerank_adapters.weights import read_weights
from rerank_plugins import ConfigError
from rerank_plugins.core.identity import identity

CONTRIBUTIONS, INTERVALS = "contributions.json", "intervals.json"


def run(job: Job, work: Workdir, name: str = "") -> None:
    """Extract, tune, rerank and evaluate; `name` is that of the job in its reports.

    Raises ConfigError for wrong settings, and for a file of the run that is also read.
    """
    raise_first(plugin_findings(job, TUNE))
    raise_first(attempt("[[system]]", lambda: job.systems))
    sets = Sets(job)
    plan = replace(work, dry=True, stages=[])
    Stages(job, sets, plan, name).do()
    read = {path.resolve() for path in sets.read_files()}
    for file in (file for stage in plan.stages for file in stage.outputs):
        if file.resolve() in read:
            raise ConfigError(f"{file}: is read and would be overwritten; move it, or set another folder as `work`")
    if work.dry:
        work.stages = plan.stages
    else:
        Stages(job, sets, work, name).do()


@dataclass(frozen=True)
class Results:
    """The results in the files of a run that has been done.

    `evaluations` are those of each test set that has references, by name. `contributions` is what each family of
    features contributes on the tuning lists; None where it is not measured. `held_out` is what each system gains over
    the 1-bests on held-out tuning lists, where that is measured.
    """

    evaluations: dict[str, Evaluation]
    contributions: Contributions | None
    held_out: Mapping[str, HeldOutGain]

    @classmethod
    def read(cls, job: Job, folder: Path) -> Results:
        """The results of a job in its folder."""
        tests = [test.name for test in job.config.test if test.references]
        texts = {test: (folder / f"{test}.report.json").read_text(encoding="utf-8") for test in tests}
        weights = {system.name: read_weights(folder / weights_file(system.name)) for system in job.systems}
        gains = {name: HeldOutGain.of_provenance(tuned.provenance) for name, tuned in weights.items()}
        return cls(
            {test: Evaluation.from_json(text) for test, text in texts.items()},
            read_contributions(folder / CONTRIBUTIONS),
            {name: gain for name, gain in gains.items() if gain is not None},
        )


def work_folder(job: Job, config: Path) -> Path:
    """The folder of the files of a job: the one that the config at `config` names, or work/NAME."""
    return job.config.path(job.config.work) if job.config.work else Path("work") / config.stem


def weights_file(system: str = RERANKED) -> str:
    """The name of the file of a system's weights."""
    return _file("weights", system, ".toml")


def _file(stem: str, system: str, suffix: str) -> str:
    """The name of a file: `weights.toml`, or `weights.NAME.toml` of a `[[system]]`."""
    return f"{stem}{suffix}" if system == RERANKED else f"{stem}.{name_in_files(system)}{suffix}"


@dataclass
class Stages:
    """The stages of a job. Each of its methods makes the key of a stage, and lets the folder make the files by it."""

    job: Job
    sets: Sets
    work: Workdir
    name: str
    keys: dict[str, str] = field(default_factory=dict)  # of the files of the stages so far, by their names

    def do(self) -> None:
        """All stages in their order."""
        cheap = [system for system in self.job.systems if self.is_cheap(system)]
        for system in cheap:
            before = len(self.work.stages)
            for set_ in self.sets.data_sets:
                self.features(system, set_, says_size=system is cheap[0])
                self.tune_or_rerank(system, set_)
            self.say_first_scores(system, before)
        for set_, data in self.sets.data_sets.items():
            self.features(self.job, set_, says_size=not cheap)
            for system in filterfalse(self.is_cheap, self.job.systems):
                self.tune_or_rerank(system, set_)
            if set_ == TUNE:
                self.contributions()
                self.intervals()
            elif data.references:
                self.report(set_)
            self.say_unchanged(set_)
            self.sets.forget(set_)

    def tune_or_rerank(self, system: Job, set_: str) -> None:
        """Tune a system on the tuning set, or rerank a test set by it."""
        if set_ == TUNE:
            self.weights(system)
        else:
            self.lists(system, set_)

    def is_cheap(self, system: Job) -> bool:
        """Whether a system does without some features, so that it comes first, with tables of its own."""
        return len(system.labels) < len(self.job.labels)

    def table(self, set_: str, system: Job) -> str:
        """The file with the features of a set for a system."""
        return _file(set_, system.name if self.is_cheap(system) else RERANKED, ".npz")

    def make(
        self,
        stage: str,
        outputs: Sequence[str],
        inputs: Sequence[str],
        own: object,
        write: Callable[..., Iterable[str] | None],
    ) -> None:
        """Let a stage make its outputs from `inputs`, the outputs of earlier stages.

        Its key is the identity of the keys of these, and of all `own` values and files that it depends on besides.
        """
        key = self.work.make(stage, outputs, identity([self.keys[file] for file in inputs], own), write)
        self.keys.update(dict.fromkeys(outputs, key))

    def paths(self, files: Sequence[str]) -> list[Path]:
        """Files of the folder."""
        return [self.work.folder / file for file in files]

    def features(self, system: Job, set_: str, *, says_size: bool) -> None:
        """Extract the features of a set: all of them, or those of a system that comes first."""
        features = system.features(set_)
        own = [
            self.sets.identity_of_lists[set_],
            [[feature.label, feature.identity] for feature in features],
            system.config.ranks,
            system.record(self.work.folder, "feature"),
            None if all(feature.extractor.cached for feature in features) else uuid4().hex,
        ]
        write = partial(write_features, system, self.sets, set_, says_size)
        self.make(_stage(set_, "features", system), [self.table(set_, system)], [], own, write)

    def weights(self, system: Job) -> None:
        """Tune the weights of a system."""
        config, start = system.config, system.config.tuning.start
        own = [
            self.sets.identity_of_references[TUNE],
            config.tuning.model_dump(mode="json"),
            config.path(start) if isinstance(start, str) and start not in NAMED_STARTS else None,
            [system.tuner, system.margin, config.seed, config.evaluation.resample_groups],
            _identities(system.measures[:1]),
            system.record(self.work.folder, "feature", "metric"),
        ]
        table = self.table(TUNE, system)
        write = partial(write_tuned, system, self.sets, self.work.folder / table)
        self.make(_stage(TUNE, "weights", system), [weights_file(system.name)], [table], own, write)

    def lists(self, system: Job, set_: str) -> None:
        """Rerank a test set by a system: its 1-bests and, with all features, the lists."""
        needs, whole = [self.table(set_, system), weights_file(system.name)], system is self.job
        files = [_file(set_, system.name, ".1best"), *([f"{set_}.nbest.gz"] if whole else [])]
        write = partial(write_lists, system, self.sets, set_, *self.paths(needs))
        own = self.sets.identity_of_references[set_]  # they say how many lines the 1-bests have
        self.make(_stage(set_, "reranked lists" if whole else "1-bests", system), files, needs, own, write)

    def contributions(self) -> None:
        """Measure what each family of features contributes to the weights."""
        job, needs = self.job, [self.table(TUNE, self.job), weights_file()]
        together = families_together(job.config.system, job.labels)
        folds = job.config.evaluation.contribution_folds
        write = partial(write_contributions, job, self.sets, folds, together, *self.paths(needs))
        self.make(_stage(TUNE, "contributions", job), [CONTRIBUTIONS], needs, [folds, together], write)

    def intervals(self) -> None:
        """Measure how much the weights depend on the lists that they were tuned on."""
        job, needs = self.job, [self.table(TUNE, self.job), weights_file()]
        samples = job.config.evaluation.weight_samples
        samples = usual_samples(job.tuner) if samples is None else samples
        write = partial(write_intervals, job, self.sets, samples, *self.paths(needs))
        self.make(_stage(TUNE, "weight intervals", job), [INTERVALS], needs, samples, write)

    def report(self, set_: str) -> None:
        """Compare the systems on a test set, and write the report: JSON, and a page."""
        job, settings = self.job, self.job.config.evaluation
        best = {system.name: _file(set_, system.name, ".1best") for system in job.systems}
        shown = {
            "table": self.table(set_, job),
            "weights": weights_file(),
            "contributions": CONTRIBUTIONS,
            "intervals": INTERVALS,
        }
        own = [
            self.name,
            list(best),
            _identities(job.measures),
            [settings.bootstrap, settings.randomisation, settings.resample_groups, job.config.seed],
            settings.explained,
        ]
        files = [f"{set_}.report.json", f"{set_}.report.html"]
        in_folder = {system: self.work.folder / file for system, file in best.items()}
        paths = {name: self.work.folder / file for name, file in shown.items()}
        write = partial(write_report, job, self.sets, set_, self.name, in_folder, **paths)
        self.make(_stage(set_, "report", job), files, [*best.values(), *shown.values()], own, write)

    def say_first_scores(self, system: Job, before: int) -> None:
        """Say the scores of a system that comes first, if one of its stages, those from `before` on, has been done."""
        if self.work.dry or all(stage.unchanged for stage in self.work.stages[before:]):
            return
        for set_, data in self.sets.data_sets.items():
            if set_ != TUNE and data.references:
                best = {system.name: self.work.folder / _file(set_, system.name, ".1best")}
                outputs = outputs_of(self.sets[set_], best)
                self.work.say(f"{set_}, before the features that only other systems have:")
                for line in score_lines(self.sets[set_].counted, outputs, self.job.measures):
                    self.work.say(line)

    def say_unchanged(self, set_: str) -> None:
        """Say which stages of a set have not been done, and that there is nothing to evaluate."""
        names = [stage.name.removeprefix(f"{set_}: ") for stage in self.work.stages
                 if stage.unchanged and stage.name.startswith(f"{set_}: ")]  # fmt: skip
        if not self.work.dry and names:
            self.work.say(f"{set_}: unchanged, so not made again: {', '.join(names)}")
        if not self.work.dry and not self.sets.data_sets[set_].references:
            self.work.say(f"{set_}: there are no references, so nothing is evaluated")


def families_together(systems: Sequence[System], labels: Sequence[str]) -> dict[str, list[str]]:
    """By name, those of the features `labels` that a system leaves out, where these are several: they stand in for each
    other, and are judged together too.
    """
    together = {}
    for system in systems:
        name = system.name.removeprefix("without ")
        whole = f"all of {name}" if name != system.name else f"all that {name!r} lacks"
        together[whole] = [label for label in labels if label in system.without]
    return {whole: left_out for whole, left_out in together.items() if len(left_out) > 1}


def _stage(set_: str, what: str, system: Job) -> str:
    """The name of a stage: `tune: weights`, or `tune: weights NAME` of a `[[system]]`."""
    return f"{set_}: {what}" if system.name == RERANKED else f"{set_}: {what} {system.name}"


def _identities(measures: Sequence[Measure]) -> list[object]:
    return [[measure.name, measure.metric, measure.text.describe()] for measure in measures]
