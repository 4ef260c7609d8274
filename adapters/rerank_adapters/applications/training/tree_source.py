"""Reads trees for training from treebanks, or parses text during training.

Parses are stored in the cache of parses, so that an interrupted training continues where it stopped, and a training
with other settings parses nothing again. Sentences without a parse are left out, and counted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from rerank_adapters.applications.parsing.parses import ParseCounts, parse_in_order
from rerank_adapters.features.processes import HERE, Processes
from rerank_adapters.text import TextPipeline, unknown_rate
from rerank_plugins import ConfigError, Parse
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.core.dependency_tree import DependencyTree, read_conllu
from rerank_plugins.core.trained_on import UNDETERMINED, TrainedOn
from rerank_plugins.core.words import model_words
from rerank_plugins.kit.files.cached_parser import CachedParser, record_parser
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.files.treebanks import begins_with_brackets, is_conllu
from rerank_plugins.kit.trees.dependency_constituents import Conversion, Labels, kind_of_labels
from rerank_plugins.kit.trees.treebank_cleaning import clean

AnyTree = TypeVar("AnyTree")
Words = tuple[str, ...]
BRACKETS = ".ptb"
TREES_OF_BLOCK = 1000  # trees or sentences that are handled at a time
MAX_UNKNOWN = 0.3  # proportion of unknown words of a text in the language of an embedded parser, at most

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TreeKind(Generic[AnyTree]):
    """A kind of tree: the endings of its treebanks' names (before that of a compression), and how to get its trees.

    A file of another name is a treebank too where it begins like one.
    """

    endings: tuple[str, ...]
    words: Callable[[AnyTree], Sequence[str]]
    read: Callable[[Iterable[str], str], Iterator[AnyTree]]
    of_parse: Callable[[Parse], AnyTree | None]

    def is_treebank(self, path: Path) -> bool:
        """Whether a file is a treebank of this kind: `ewt.conllu`, `ewt.conllu.xz`, or any that begins like one.

        Raises ConfigError for trees of the other kind, which would be parsed as text.
        """
        if any(ending in path.suffixes[-2:] for ending in self.endings):
            return True
        if not begins_with_brackets(path):
            return is_conllu(path)
        if BRACKETS not in self.endings:
            raise ConfigError(f"{path}: holds trees in brackets; wanted dependencies (CoNLL-U), or text to parse")
        return True


def _clean_trees(lines: Iterable[str], path: str) -> Iterator[Tree]:
    return (tree for tree in map(clean, read_trees(lines, path)) if tree is not None)


def _best_tree(parse: Parse) -> Tree | None:
    return parse.constituents[0].tree if parse.constituents else None


DEPENDENCIES: TreeKind[DependencyTree] = TreeKind(
    (".conllu",), lambda tree: tree.words, read_conllu, lambda parse: parse.dependencies
)
CONSTITUENTS: TreeKind[Tree] = TreeKind(
    (BRACKETS, ".mrg", ".brackets", ".conllu"), Tree.words, _clean_trees, _best_tree
)


@dataclass(frozen=True)
class NamedParser:
    """A parser as the user named it, which is made when it is first needed; `use` is the name of its plugin."""

    name: str
    use: str
    make: Callable[[], CachedParser]

    @cached_property
    def made(self) -> CachedParser:
        """The parser, whose parses are cached."""
        return self.make()


@dataclass
class TreeSource(Generic[AnyTree]):
    """The trees of files, in order: those of treebanks unchanged, and of any other text those of its parsed lines.

    Where constituents are wanted, `conversion` makes them of treebanks in CoNLL-U.

    Lines go through the steps of `text` before they are parsed. `counts` has the numbers of parsed sentences, and
    `seen` is called with the number of trees of every block. `language` is the code of the trees' language, if it is
    given; `is_named` says whether the user named the parser, which then is that of the treebanks' trees, too.
    """

    kind: TreeKind[AnyTree]
    parser: NamedParser
    text: TextPipeline = field(default_factory=TextPipeline)
    processes: Processes = HERE
    counts: ParseCounts = field(default_factory=ParseCounts)
    seen: Callable[[int], None] = lambda trees: None
    language: str = ""
    is_named: bool = False
    conversion: Conversion = field(default_factory=Conversion)
    _sample: dict[Path, list[str]] = field(default_factory=dict)
    _labels: dict[Labels, Path] = field(default_factory=dict)  # the first file with labels of each kind

    def trees(self, paths: Sequence[Path]) -> Iterator[AnyTree]:
        """The trees of all files.

        Raises FormatError, and ConfigError for text in another language than the parser's, and for files whose labels
        are of different kinds.
        """
        if (self._parses(paths) or self.is_named) and self.parser.made.trained_on.differs(TrainedOn(self.language)):
            raise ConfigError(
                f"--language {self.language}: the parser {self.parser.name!r} reads "
                f"{self.parser.made.trained_on.language!r}; name another one with --parser"
            )
        for path in paths:
            trees = self._read(path) if self.kind.is_treebank(path) else self._parse(path)
            while block := list(islice(trees, TREES_OF_BLOCK)):
                if path not in self._sample:
                    self._sample[path] = [" ".join(self.kind.words(tree)) for tree in block]
                    self._check_labels(path, block)
                yield from block
                self.seen(len(block))

    def count(self, paths: Sequence[Path]) -> int | None:
        """The number of trees of files where these are texts to parse, for the time that is left; None otherwise.

        A sentence without a parse has no tree, so that there may be fewer.
        """
        if any(not path.is_file() or self.kind.is_treebank(path) for path in paths):
            return None
        count = 0
        for path in paths:
            with open_text(path) as lines:
                count += sum(not line.isspace() for line in lines)
        return count

    def parsed_language(self, paths: Sequence[Path]) -> str:
        """The language of the parser, if it reads text; "" if all trees are those of treebanks."""
        return self.parser.made.trained_on.language if self._parses(paths) else ""

    def trained_on(self, paths: Sequence[Path], folder: Path) -> TrainedOn:
        """The record of the files' trees, which have been read, for a model file in `folder`.

        The language is that of the option `language`, or else the parser's, unless its embedded model does not know the
        words: then the language is not known, and a warning is logged.
        """
        parses, has_parser = self._parses(paths), self._parses(paths) or self.is_named
        if self.is_named:
            self._check_labels_of_parser()
        table = record_parser(self.parser.use, self.parser.made.parser, folder) if has_parser else {}
        return TrainedOn(
            self.language or self._language(paths, warn=not table), table, self.text.describe() if parses else ""
        )

    def _language(self, paths: Sequence[Path], *, warn: bool) -> str:
        parser, remark = self.parser.made, ""
        is_its_own = self._parses(paths) or self.is_named
        if parser.vocabulary is not None:
            unknown = unknown_rate(parser.vocabulary, [text for path in paths for text in self._sample.get(path, [])])
            is_its_own = unknown <= MAX_UNKNOWN
            remark = f" ({unknown:.1%} of the words are unknown to the parser {self.parser.name!r})"
        language = parser.trained_on.language if is_its_own else ""
        if warn and not language:
            logger.warning("the language of the trees is not known%s: give --language CODE", remark)
        return language or UNDETERMINED

    def _parses(self, paths: Sequence[Path]) -> bool:
        return not all(map(self.kind.is_treebank, paths))

    def _check_labels(self, path: Path, trees: Sequence[AnyTree]) -> None:
        """Raise ConfigError if the labels of a file's trees are of another kind than those of an earlier file."""
        nodes = (node for tree in trees if isinstance(tree, Tree) for node in tree.nodes())
        self._labels.setdefault(kind_of_labels(node.label for node in nodes), path)
        if len(self._labels) > 1:
            first, second, *_ = (
                f"{path} has trees with {TrainedOn(labels=labels).described_labels}"
                for labels, path in self._labels.items()
            )
            raise ConfigError(f"{first}, {second}: a model cannot mix them")

    def _check_labels_of_parser(self) -> None:
        """Raise ConfigError if the parser that the user named does not give trees like those that were read."""
        of_parser = self.parser.made.trained_on
        for labels, path in self._labels.items():
            if self.kind.endings is CONSTITUENTS.endings and of_parser.known and labels != of_parser.labels:
                raise ConfigError(
                    f"--parser {self.parser.name}: gives {of_parser.described_labels}, and {path} has trees with "
                    f"{TrainedOn(labels=labels).described_labels} (biaffine gives such trees with constituents=true)"
                )

    def _read(self, path: Path) -> Iterator[AnyTree]:
        converts = self.kind.endings is CONSTITUENTS.endings and is_conllu(path)
        with open_text(path) as lines:
            yield from (
                cast("Any", self.conversion).read(lines, str(path)) if converts else self.kind.read(lines, str(path))
            )

    def _parse(self, path: Path) -> Iterator[AnyTree]:
        with open_text(path) as lines:
            for _, parse in parse_in_order(self.parser.made, self._sentences(lines), self.processes, self.counts):
                tree = self.kind.of_parse(parse)
                if tree is not None:
                    yield tree

    def _sentences(self, lines: Iterator[str]) -> Iterator[Words]:
        while block := list(islice(lines, TREES_OF_BLOCK)):
            for line in self.text.apply([line.strip() for line in block]):
                if words := tuple(model_words(line)):
                    yield words
