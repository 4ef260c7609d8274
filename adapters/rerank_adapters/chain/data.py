"""The data set that a job reads: lists, paired with their references, and what is known of unpaired segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.chain.job import Job
from rerank_adapters.formats.outputs import OneBests
from rerank_adapters.formats.pairing import PairedLists, Purpose, pair_lists
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import read_groups, read_references
from rerank_adapters.formats.sources import Sources
from rerank_adapters.job.config import DataSet
from rerank_adapters.runtime.progress import counted
from rerank_plugins import NBestList


@dataclass(frozen=True)
class Data:
    """The lists of a data set, with the references of each list (an empty tuple where there are none).

    `groups` has the group of each list, such as its speaker; None where the config names none. `findings` are sentences
    about segments that lists or references lack. Where lists are missing that an evaluation counts, `with_lost` is the
    same data set with the empty hypothesis in place of each.
    """

    name: str
    nbests: list[NBestList]
    references: list[tuple[str, ...]]
    groups: list[str] | None = None
    findings: tuple[str, ...] = ()
    with_lost: Data | None = None

    @classmethod
    def of(cls, name: str, paired: PairedLists, groups: Path | None = None) -> Data:
        """The data set of lists and their references, with the groups in a file."""
        whole = cls(name, *paired.with_lost(), read_groups(groups, paired.ids) if groups else None, paired.findings)
        if not paired.lost:
            return whole
        kept = [place for place, id_ in enumerate(paired.ids) if id_ not in paired.lost]
        own_groups = [whole.groups[place] for place in kept] if whole.groups else None
        return cls(name, paired.nbests, paired.references, own_groups, paired.findings, whole)

    @classmethod
    def read(cls, job: Job, files: DataSet, *, references: bool = True) -> Data:
        """Read the lists of a data set of a job, merged where several files hold them, and pair their references."""
        config, tuning = job.config, files is job.config.tune
        source = Sources.read(config.path(files.source), files.reference_form) if files.source else None
        nbests = read_nbest([config.path(path) for path in files.nbest], job.format, source, lines=not tuning)
        groups = config.path(files.groups) if files.groups else None
        if not (references and files.references):
            return cls.of(files.name, PairedLists.without_references(nbests), groups)
        read = read_references([config.path(path) for path in files.references], files.reference_form)
        purpose: Purpose = "tuning" if tuning else "evaluation"
        return cls.of(files.name, pair_lists(nbests, read, files.unpaired, purpose), groups)

    @property
    def counted(self) -> Data:
        """The data set that an evaluation counts."""
        return self.with_lost or self

    @property
    def ids(self) -> list[str]:
        """The ids of the lists."""
        return [nbest.segment_id for nbest in self.nbests]

    @property
    def sources(self) -> list[str | None]:
        """The source sentence of each list, where it is known."""
        return [nbest.source for nbest in self.nbests]

    def warnings(self, name: str) -> Iterator[str]:
        """A line for each finding, with the name of the data set."""
        yield from (f"rerank: warning: {name}: {finding}" for finding in self.findings)

    def one_bests(self, texts: Mapping[str, str]) -> OneBests:
        """The 1-bests of these lists by id, as a file has them that an evaluation reads."""
        return OneBests.of(texts, others=self.counted.ids)

    @property
    def size(self) -> str:
        """The size of the lists, as `1 segment, 100 hypotheses`."""
        return lists_size(len(self.nbests), sum(map(len, self.nbests)))


def lists_size(segments: int, hypotheses: int) -> str:
    """The size of n-best lists, as `1 segment, 100 hypotheses`."""
    return f"{counted(segments, 'segment')}, {counted(hypotheses, 'hypothesis', 'hypotheses')}"
