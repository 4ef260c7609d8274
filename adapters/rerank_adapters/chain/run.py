"""A job in a folder: its systems, its data sets, and the files of its steps.

Systems that do without some features come first, one after another with all test sets, since their features are the
cheap ones: a first table of scores stands before the other features are extracted.

Lists are read only for a step that needs them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rerank_adapters.chain.learn import validate_tuning
from rerank_adapters.chain.lists import content_check, files_of
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.overlap import overlap_with_tuning
from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.formats.pairing import Purpose
from rerank_adapters.job.config import DataSet
from rerank_adapters.job.job import Job, name_in_files
from rerank_plugins import ConfigError, FeatureTable

TUNE = "tune"  # the name of the tuning set in lines and files
RERANKED = "reranked"  # the system with all features of the config

logger = logging.getLogger(__name__)


@dataclass
class Run:
    """A job, completed by its lists, the folder of its files, and the data sets: `tune`, and each test set.

    `name` is that of the job in its reports.
    """

    job: Job
    folder: Path
    name: str = ""
    _read: dict[str, Dataset] = field(default_factory=dict)

    @cached_property
    def sets(self) -> Mapping[str, DataSet]:
        """The data sets by name, the tuning set first. Raises ConfigError for a job without one."""
        config = self.job.config
        if config.tune is None:
            raise ConfigError("the config has no [tune] table, which names the lists that weights are tuned on")
        return {TUNE: config.tune, **{test.name: test for test in config.test}}

    @cached_property
    def systems(self) -> dict[str, Job]:
        """The jobs of all systems by name, that with all features last."""
        return {job.name: job for job in self.job.systems}

    @cached_property
    def first(self) -> dict[str, Job]:
        """The systems that do without some features, by name, in the order of the config."""
        return {label: job for label, job in self.systems.items() if len(job.labels) < len(self.job.labels)}

    def table(self, name: str, label: str = RERANKED) -> Path:
        """The feature table of a set: that of all features, or the own one of a system that comes first."""
        return self._file(name, label if label in self.first else RERANKED, ".npz")

    def weights(self, label: str = RERANKED) -> Path:
        """The weights of a system."""
        return weights_file(self.folder, label)

    def best(self, name: str, label: str = RERANKED) -> Path:
        """The 1-bests of a system for a test set."""
        return self._file(name, label, ".1best")

    def _file(self, stem: str, label: str, suffix: str) -> Path:
        return self.folder / _file_name(stem, label, suffix)

    def lists(self, name: str) -> Dataset:
        """A data set, read when it is first needed.

        Raises ConfigError where its lists and references do not belong together.
        """
        if name not in self._read:
            purpose: Purpose = "tuning" if name == TUNE else "evaluation"
            files = files_of(self.job, self.sets[name])
            self._read[name] = Dataset.read(name, files, self.job.format, purpose, content_check(self.job))
        return self._read[name]

    def forget(self, name: str) -> None:
        """Drop the lists of a set: those of several sets need not be in memory at once."""
        self._read.pop(name, None)

    @cached_property
    def validated_tuning(self) -> Dataset:
        """The tuning set, after checks that would otherwise fail only when its features are there.

        Raises ConfigError for test sets with other features than the tuning set, and for wrong settings of the tuning.
        """
        data = self.lists(TUNE)
        for name in self.sets:
            if name != TUNE and (warning := overlap_with_tuning(data, self.lists(name))):
                logger.warning("%s", warning)
            names = self.lists(name).lists[0].feature_names
            if difference := names_differ(data.lists[0].feature_names, names):
                raise ConfigError(f"{name}: other decoder features than the tuning lists: {difference}")
        decoder = self.job.extraction().decoder_table(data.lists)
        for system in self.systems.values():
            validate_tuning(system, data, decoder)
        return data

    def columns(self, name: str, label: str) -> FeatureTable:
        """The table of a data set with the features of a system."""
        system, path = self.systems[label], self.table(name, label)
        table, nbests = FeatureTable.load(path), self.lists(name).lists
        extraction = system.extraction(name)
        return extraction.columns(nbests, table, path, folder=self.folder, all_columns=False)

    def outputs(self, name: str, *labels: str) -> dict[str, list[str]]:
        """By system, the 1-bests in its file, in the order of the counted segments."""
        data = self.lists(name)
        files, ids = data.one_bests(dict.fromkeys(data.ids, "")), data.counted.ids
        texts = {label: files.read(self.best(name, label).read_bytes().decode().split("\n")[:-1]) for label in labels}
        return {label: [of_ids.get(id_, "") for id_ in ids] for label, of_ids in texts.items()}


def work_folder(job: Job, config: Path) -> Path:
    """The folder of the files of a job: the one that the config at `config` names, or work/NAME."""
    return job.config.path(job.config.work) if job.config.work else Path("work") / config.stem


def weights_file(folder: Path, system: str = RERANKED) -> Path:
    """The weights of a system in the folder of a run."""
    return folder / _file_name("weights", system, ".toml")


def _file_name(stem: str, system: str, suffix: str) -> str:
    """The name of a system's file: `weights.toml`, or `weights.NAME.toml` for a `[[system]]`."""
    return f"{stem}{suffix}" if system == RERANKED else f"{stem}.{name_in_files(system)}{suffix}"
