"""Training a dependency language model: trees from treebanks, or from text that is parsed on the way.

What has been parsed lies in the cache of parses, so that an interrupted training continues where it stopped, and one
with other settings parses nothing again. A sentence without a parse is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from rerank_adapters.formats.compressed import open_text
from rerank_adapters.tasks.job import Job
from rerank_adapters.tasks.parse_pool import ParseCounts, parse_in_order
from rerank_adapters.tasks.parsing import build_parser
from rerank_adapters.text import TextPipeline
from rerank_plugins.models.dependency_lm import DependencyModel, Settings, TreeCollector, train
from rerank_plugins.parsers.cached import CachedParser
from rerank_plugins.trees.dependency import DependencyTree, read_conllu

TREEBANK = ".conllu"  # what the name of a file of trees ends in, compressed or not
Words = tuple[str, ...]
BLOCK = 1000


@dataclass
class TreeSource:
    """Trees of files, in order: CoNLL-U as it stands, any other text through `text` and the parser, line by line.

    `counts` says how many sentences were parsed, `seen` is told of every BLOCK trees. The parser is built when the
    first text comes.
    """

    job: Job
    parser: str
    text: TextPipeline
    counts: ParseCounts
    seen: Callable[[int], None] = lambda trees: None
    _built: CachedParser | None = None

    def trees(self, paths: Iterable[Path]) -> Iterator[DependencyTree]:
        """The trees of all the files."""
        for path in paths:
            trees = self._read(path) if is_treebank(path) else self._parse(path)
            while block := list(islice(trees, BLOCK)):
                yield from block
                self.seen(len(block))

    def _read(self, path: Path) -> Iterator[DependencyTree]:
        with open_text(path) as lines:
            yield from read_conllu(lines, str(path))

    def _parse(self, path: Path) -> Iterator[DependencyTree]:
        if self._built is None:
            self._built = build_parser(self.job, self.parser)
        with open_text(path) as lines:
            for _, parse in parse_in_order(self._built, self._sentences(lines), self.job.config.jobs, self.counts):
                if parse.dependencies is not None:
                    yield parse.dependencies

    def _sentences(self, lines: Iterator[str]) -> Iterator[Words]:
        while block := list(islice(lines, BLOCK)):
            for line in self.text.apply([line.strip() for line in block]):
                if words := tuple(line.split()):
                    yield words


def is_treebank(path: Path) -> bool:
    """Whether the name says CoNLL-U: `ewt.conllu`, `ewt.conllu.xz`."""
    return TREEBANK in path.suffixes[-2:]


def train_dependency_lm(
    source: TreeSource, paths: Sequence[Path], settings: Settings, progress: Callable[[str], None] = lambda stage: None
) -> DependencyModel:
    """A model of the trees of the files; its provenance names the files and, where text was parsed, the parser."""
    collector = TreeCollector()
    collector.add(source.trees(paths))
    model = train(collector, settings, jobs=source.job.config.jobs, progress=progress)
    parsed = {} if all(map(is_treebank, paths)) else {"parser": source.parser, "text": source.text.describe()}
    made = {**model.provenance, "files": [path.name for path in paths], **parsed}
    return replace(model, provenance=made)


@dataclass(frozen=True)
class HeldOut:
    """How well a model predicts other trees: words, those that it does not know, and exp(-mean ln p) of the others."""

    words: int
    unknown: int
    perplexity: float


def held_out(model: DependencyModel, trees: Iterable[DependencyTree]) -> HeldOut:
    """Perplexity of the known words. Scores of stupid backoff are no probabilities: compare them with their like."""
    words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, BLOCK)):
        known = np.array([word in model for tree in block for word in tree.words], bool)
        scores = np.concatenate([*model.score(block), np.zeros(0)])
        words, unknown = words + len(known), unknown + int(np.count_nonzero(~known))
        total += float(scores[known].sum())
    return HeldOut(words, unknown, float(np.exp(-total / max(1, words - unknown))))
