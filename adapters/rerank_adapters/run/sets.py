"""The data sets of a job: what each depends on, and its lists, which are read when a stage first needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rerank_adapters.data.dataset import Dataset
from rerank_adapters.job.job import TUNE, Job
from rerank_adapters.run.check import raise_first, set_findings, tuning_findings
from rerank_adapters.texts.pairing import Purpose
from rerank_adapters.tuning.start import NAMED_STARTS
from rerank_plugins import ConfigError, FeatureTable, Rescored, __version__
from rerank_plugins.core.identity import identity


class Sets:
    """The tuning set, and the test sets by name; a set is in memory until it is forgotten.

    Raises ConfigError for a job without a tuning set.

    `data_sets`               the tables of the config for each set, in the order of a run
    `identity_of_lists`       by set, the identity of what its lists depend on, and of the code of the program
    `identity_of_references`  by set, the identity of what its references and its groups depend on
    """

    def __init__(self, job: Job) -> None:
        config = job.config
        if config.tune is None:
            raise ConfigError("the config has no [tune] table, which names the lists that weights are tuned on")
        self.job = job
        self.data_sets = {TUNE: config.tune, **{test.name: test for test in config.test}}
        self.identity_of_references: dict[str, str] = {}
        self.identity_of_lists: dict[str, str] = {}
        # A class stands for the code of its whole package.
        program = [job.format, Job, FeatureTable, __version__]
        for name, data in self.data_sets.items():
            files = job.files(data)
            pairs = [[Path(path) for path in files.references], files.groups, files.reference_form, files.unpaired]
            lists = [[Path(path) for path in files.lists], files.source, files.reference_form if files.source else ""]
            self.identity_of_references[name] = identity(pairs)
            left_out = pairs if files.unpaired == "leave-out" else []  # then the references say which lists there are
            self.identity_of_lists[name] = identity(lists, left_out, program)
        self._read: dict[str, Dataset] = {}
        self.orders: dict[str, dict[str, Rescored]] = {}  # by set and id, of the lists in memory that are reranked
        self._checked = False
        self.said: set[str] = set()  # the doubts that the user has read: those of several sets are often the same
        self.warned: set[str] = set()  # the models about whose unknown words the user has been warned

    def read_files(self) -> Iterator[Path]:
        """All files that a run reads: those of the sets, and start weights."""
        config = self.job.config
        yield from (config.path(path) for data in self.data_sets.values() for path in data.paths)
        for system in self.job.systems:
            if isinstance(start := system.config.tuning.start, str) and start not in NAMED_STARTS:
                yield config.path(start)

    def __getitem__(self, name: str) -> Dataset:
        """A data set. Raises ConfigError where its lists and references do not belong together."""
        if name not in self._read:
            purpose: Purpose = "tuning" if name == TUNE else "evaluation"
            files = self.job.files(self.data_sets[name])
            self._read[name] = Dataset.read(name, files, self.job.format, purpose, self.job.content_check())
        return self._read[name]

    def checked_tuning_set(self) -> Dataset:
        """The tuning set, after checks that would otherwise fail only when its features are there.

        The first call reads the test sets, too, one after another, and compares each with the tuning set. Raises the
        first error of `set_findings` and `tuning_findings`, and logs their warnings.
        """
        if not self._checked:
            raise_first(set_findings(self[TUNE], self._tests()))
            raise_first(tuning_findings(self.job, self[TUNE]))
            self.job.extraction(TUNE).log_ranks(self[TUNE].lists)
            self._checked = True
        return self[TUNE]

    def _tests(self) -> Iterator[Dataset]:
        """The test sets, of which those that were not in memory leave it before the next one is read."""
        for name in self.data_sets:
            if name != TUNE:
                known = name in self._read
                yield self[name]
                if not known:
                    self.forget(name)

    def forget(self, name: str) -> None:
        """Drop the lists of a set, which are read again if a stage needs them."""
        self._read.pop(name, None)
        self.orders.pop(name, None)
