"""Trees for training: from treebanks, or from text that is parsed during training.

Parses are stored in the cache of parses, so that an interrupted training continues where it stopped, and a training
with other settings parses nothing again. Sentences without a parse are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from rerank_adapters.formats.compressed import open_text
from rerank_adapters.pipeline.job import Job
from rerank_adapters.pipeline.parsing import ParseCounts, parse_in_order
from rerank_adapters.text import TextPipeline
from rerank_plugins import Parse
from rerank_plugins.parsers.cached import CachedParser
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import Tree, read_trees
from rerank_plugins.trees.dependency import DependencyTree, read_conllu
from rerank_plugins.trees.spoken import spoken_dependencies, spoken_tree

AnyTree = TypeVar("AnyTree")
Words = tuple[str, ...]
BLOCK = 1000  # trees or sentences that are handled at a time


@dataclass(frozen=True)
class TreeKind(Generic[AnyTree]):
    """A kind of tree: the endings of its treebanks' names (before that of a compression), and how to get its trees.

    `spoken` removes case and punctuation from a tree (trees/spoken.py).
    """

    endings: tuple[str, ...]
    read: Callable[[Iterable[str], str], Iterator[AnyTree]]
    of_parse: Callable[[Parse], AnyTree | None]
    spoken: Callable[[AnyTree], AnyTree | None]

    def is_treebank(self, path: Path) -> bool:
        """Whether the name of the file is that of a treebank of this kind, such as `ewt.conllu` or `ewt.conllu.xz`."""
        return any(ending in path.suffixes[-2:] for ending in self.endings)


def _clean_trees(lines: Iterable[str], path: str) -> Iterator[Tree]:
    return (tree for tree in map(clean, read_trees(lines, path)) if tree is not None)


def _best_tree(parse: Parse) -> Tree | None:
    return parse.constituents[0].tree if parse.constituents else None


DEPENDENCIES: TreeKind[DependencyTree] = TreeKind(
    (".conllu",), read_conllu, lambda parse: parse.dependencies, spoken_dependencies
)
CONSTITUENTS: TreeKind[Tree] = TreeKind((".ptb", ".mrg", ".brackets"), _clean_trees, _best_tree, spoken_tree)


@dataclass
class TreeSource(Generic[AnyTree]):
    """The trees of files, in order: those of treebanks unchanged, and of any other text those of its parsed lines.

    Lines go through the steps of `text` before they are parsed. With `spoken`, trees lose case and punctuation, those
    of parsed text after parsing, since parsers read written text. `counts` has the numbers of parsed sentences, and
    `seen` is called with the number of trees of every block. The parser is built when it is first needed.
    """

    kind: TreeKind[AnyTree]
    job: Job
    parser: str
    text: TextPipeline
    counts: ParseCounts
    seen: Callable[[int], None] = lambda trees: None
    spoken: bool = False
    _built: CachedParser | None = None

    def trees(self, paths: Iterable[Path]) -> Iterator[AnyTree]:
        """The trees of all files. Raises FormatError."""
        for path in paths:
            trees = self._read(path) if self.kind.is_treebank(path) else self._parse(path)
            if self.spoken:
                trees = (tree for tree in map(self.kind.spoken, trees) if tree is not None)
            while block := list(islice(trees, BLOCK)):
                yield from block
                self.seen(len(block))

    def provenance(self, paths: Iterable[Path]) -> dict[str, object]:
        """The provenance of the training data: the files and, if text was parsed, the parser and the text steps."""
        paths = list(paths)
        parsed = {} if all(map(self.kind.is_treebank, paths)) else {"parser": self.parser, "text": self.text.describe()}
        spoken = {"spoken": True} if self.spoken else {}
        return {"files": [path.name for path in paths], **parsed, **spoken}

    def _read(self, path: Path) -> Iterator[AnyTree]:
        with open_text(path) as lines:
            yield from self.kind.read(lines, str(path))

    def _parse(self, path: Path) -> Iterator[AnyTree]:
        if self._built is None:
            self._built = self.job.parser(self.parser)
        with open_text(path) as lines:
            for _, parse in parse_in_order(self._built, self._sentences(lines), self.job.config.jobs, self.counts):
                tree = self.kind.of_parse(parse)
                if tree is not None:
                    yield tree

    def _sentences(self, lines: Iterator[str]) -> Iterator[Words]:
        while block := list(islice(lines, BLOCK)):
            for line in self.text.apply([line.strip() for line in block]):
                if words := tuple(line.split()):
                    yield words
