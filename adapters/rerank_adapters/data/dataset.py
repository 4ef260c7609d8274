"""A data set: lists, paired with their references, and doubts about them.

This is the one place where the files of a data set are read, paired and checked: commands and the Python API get a
`Dataset`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rerank_adapters.data.content import ContentCheck, warnings_of
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.runtime.progress import StatusLine, counted
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.one_bests import OneBestFile
from rerank_adapters.texts.pairing import Paired, Purpose, Unpaired, pair
from rerank_adapters.texts.reading import read_groups, read_texts
from rerank_adapters.texts.sources import Sources
from rerank_plugins import NBestFormat, NBestList


@dataclass(frozen=True)
class Files:
    """The files of a data set, and how they are read."""

    lists: Sequence[str | Path]
    references: Sequence[str | Path] = ()
    source: Path | None = None
    groups: Path | None = None
    reference_form: ReferenceForm = "auto"
    unpaired: Unpaired = "empty"

    def paired(self, lists: Sequence[NBestList], purpose: Purpose) -> Paired:
        """Lists with the references in the files. Raises FormatError as `read_texts` and `pair` do."""
        references = [read_texts(path, "reference", self.reference_form) for path in self.references]
        return pair(references, None, lists, self.unpaired, purpose, self.lists)


@dataclass(frozen=True)
class Dataset:
    """Lists with the references of each (an empty tuple where there are none).

    `groups` has the group of each list, such as its speaker; None where no file names them. `findings` are warnings
    about segments that lists or references lack, and `doubts` are warnings about the content. Where lists are missing
    that an evaluation counts, `with_lost` is the same data set with an empty hypothesis in the place of each.
    """

    name: str
    lists: Sequence[NBestList]
    references: Sequence[tuple[str, ...]]
    groups: Sequence[str] | None = None
    findings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    with_lost: Dataset | None = None

    @classmethod
    def read(
        cls, name: str, files: Files, format: NBestFormat, purpose: Purpose, content: ContentCheck | None = None
    ) -> Dataset:
        """Read the lists of a data set, merged where several files hold them, and pair and check their references.

        Without `content`, it is not checked whether the texts of both belong together. Raises FormatError with file and
        line, and ConfigError where lists and references do not belong together.
        """
        with StatusLine("reading the lists"):
            source = Sources(files.source, files.reference_form).of if files.source else None
            lists = read_nbest(files.lists, format, source, lines=purpose == "evaluation")
            paired = files.paired(lists, purpose) if files.references else Paired.without_references(lists)
        data = cls.of(name, paired, files.groups)
        return data if content is None else data.checked(content, files.references)

    @classmethod
    def of(cls, name: str, paired: Paired, groups: Path | None = None) -> Dataset:
        """The data set of lists that are paired with their references, with the groups in a file."""
        all_groups = read_groups(groups, paired.ids) if groups else None
        lists = paired.lists or []
        whole = cls(name, lists, paired.references, all_groups, paired.findings)
        if not paired.lost:
            return whole
        there = [place for place, id_ in enumerate(paired.ids) if id_ not in paired.lost]
        own_lists, texts = [lists[place] for place in there], [paired.references[place] for place in there]
        own_groups = [all_groups[place] for place in there] if all_groups else None
        return cls(name, own_lists, texts, own_groups, paired.findings, with_lost=whole)

    def checked(self, content: ContentCheck, files: Sequence[str | Path] = ()) -> Dataset:
        """The data set with the doubts about its content; `files` hold the references, if they are in files.

        Raises ConfigError where the texts of lists and references do not belong together.
        """
        firsts = {"hypotheses": self.first_best}
        doubts = content.doubts(firsts, self.references, files=files, sources=self.known_sources, ids=self.ids)
        return replace(self, doubts=tuple(warnings_of(doubts)))

    @property
    def counted(self) -> Dataset:
        """The data set that an evaluation counts."""
        return self.with_lost or self

    @property
    def ids(self) -> list[str]:
        """The ids of the lists."""
        return [nbest.segment_id for nbest in self.lists]

    @property
    def sources(self) -> list[str | None]:
        """The source sentence of each list, where it is known."""
        return [nbest.source for nbest in self.lists]

    @property
    def known_sources(self) -> list[str | None] | None:
        """The source sentences, if every list has one."""
        return None if None in self.sources else self.sources

    @property
    def first_best(self) -> list[str]:
        """The decoder's 1-best of each list."""
        return [nbest[0].text for nbest in self.lists]

    @property
    def size(self) -> str:
        """The size of the lists, as `1 segment, 100 hypotheses`."""
        return lists_size(len(self.lists), sum(map(len, self.lists)))

    def one_bests(self, texts: Mapping[str, str]) -> OneBestFile:
        """The 1-bests of these lists by id, as a file has them that an evaluation reads."""
        return OneBestFile.of(texts, others=self.counted.ids)


def lists_size(segments: int, hypotheses: int) -> str:
    """The size of n-best lists, as `1 segment, 100 hypotheses`."""
    return f"{counted(segments, 'segment')}, {counted(hypotheses, 'hypothesis', 'hypotheses')}"
