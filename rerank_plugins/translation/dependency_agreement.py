"""Agreement of the dependency tree of hypothesis e with that of the source f, projected through word links.

With n linked words (projection_through_links.py), and labels without subtypes:

    directed      proportion of the n whose heads agree
    undirected    proportion of the n whose heads agree, or would if one arc were turned round
    labelled      proportion of the n whose heads and relations agree
    contradicted  -(linked words whose heads agree in neither way)
    crossings     -(pairs of projected arcs that cross in the order of e)
    unprojected   -(words of e without a link)

The proportions are 0 where n = 0 or where either tree is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.interfaces import FeatureExtractor, Parser, option
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.nbest_lists import source_of

if TYPE_CHECKING:
    from rerank_plugins.translation.alignment.model import WordAlignmentModel


@dataclass(frozen=True)
class DependencyAgreementFeature(FeatureExtractor, PickledFields):
    """Agreement of the hypothesis's dependency tree with the source's, projected through word alignments."""

    file_kind: ClassVar[str] = "word-alignment"
    model: Path = option(doc="word alignment model from `rerank train word-alignment`")
    source_parser: Parser = option(doc="a parser of the source language, by name")
    parser: Parser | None = option(None, doc="a parser of the hypotheses, by name; default: the embedded English one")
    links: Literal["intersection", "forward"] = option(
        "intersection", doc="links that both directions of the model have, or those of each word of the hypothesis"
    )

    components = ("directed", "undirected", "labelled", "contradicted", "crossings", "unprojected")

    @property
    def parsers(self) -> tuple[Parser, ...]:
        """The parser of the hypotheses."""
        return (self._parser,)

    @cached_property
    def _model(self) -> WordAlignmentModel:
        from rerank_plugins.translation.alignment.model import read_model

        return read_model(self.model)

    @cached_property
    def _parser(self) -> Parser:
        from rerank_plugins.dependency.parsers import EnglishParser
        from rerank_plugins.kit.files.cached_parser import CachedParser

        return self.parser or CachedParser(EnglishParser())

    def extract(self, nbest: NBestList) -> FloatArray:
        """(n, components) values. Raises ConfigError for a list without a source."""
        return self.extract_all([nbest])[0]

    def extract_all(self, nbests: Sequence[NBestList]) -> list[FloatArray]:
        """One (n, components) array for each list; the texts of all lists are parsed together."""
        sources = [source_of(nbest, "dependency-agreement").split() if len(nbest) else [] for nbest in nbests]
        sentences = [[text.split() for text in nbest.texts] for nbest in nbests]
        source_trees = [parse.dependencies for parse in self.source_parser.parse(sources)]
        trees = iter(self._parser.parse(list(chain.from_iterable(sentences))))
        return [
            self._all_values(source, source_tree, texts, [next(trees).dependencies for _ in texts])
            for source, source_tree, texts in zip(sources, source_trees, sentences, strict=True)
        ]

    def _all_values(
        self,
        source: Sequence[str],
        source_tree: DependencyTree | None,
        sentences: Sequence[Sequence[str]],
        trees: Sequence[DependencyTree | None],
    ) -> FloatArray:
        """(n, 6) the values of the hypotheses of a list."""
        from rerank_plugins.translation.projection_through_links import NO_TREE, ROOT, count_agreement

        sizes = np.array([len(words) for words in sentences], np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        values = np.zeros((len(sentences), len(self.components)))
        if not source or not sizes.any():
            return values
        links = self._links(source, sentences)
        numbers: dict[str, int] = {}
        relations = _relations(trees, sizes, numbers)
        heads = _heads(trees, sizes, NO_TREE)
        own = (len(source),)
        source_heads, source_relations = _heads([source_tree], own, ROOT), _relations([source_tree], own, numbers)
        counts = np.zeros((len(sentences), 5), np.int64)
        count_agreement(
            source_heads, source_relations, offsets, links, heads, relations, np.empty(len(source), np.int64),
            np.empty(sizes.max(), np.int64), np.full(len(source), -1, np.int64), counts,
        )  # fmt: skip
        linked, agree, labelled, turned, crossings = counts.T
        if source_tree is None:
            agree = labelled = turned = crossings = np.zeros_like(linked)
        proportions = np.stack([agree, agree + turned, labelled], axis=1) / np.maximum(linked, 1)[:, None]
        values[:, :3] = proportions
        values[:, 3] = agree + turned - linked
        values[:, 4] = -crossings
        values[:, 5] = linked - sizes
        return values + 0.0

    def _links(self, source: Sequence[str], sentences: Sequence[Sequence[str]]) -> LongArray:
        """The source word of each word of all hypotheses, -1 for none."""
        model = self._model
        filled = [model.words_of(" ".join(words)) for words in sentences if words]
        aligned = model.align(model.words_of(" ".join(source)), filled, ln_p=False)
        if self.links == "forward":
            return aligned.forward
        sizes = np.array([len(words) for words in filled])
        rows = np.repeat(np.arange(len(filled)), sizes)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        mutual = aligned.backward[rows, np.maximum(aligned.forward, 0)] == places
        return np.where((aligned.forward >= 0) & mutual, aligned.forward, -1)


def _heads(trees: Sequence[DependencyTree | None], sizes: Sequence[int] | LongArray, missing: int) -> LongArray:
    """The heads of all words of the sentences, which have these numbers of words; `missing` where there is no tree."""
    heads = (tree.heads if tree else (missing,) * size for tree, size in zip(trees, sizes, strict=True))
    return np.fromiter(chain.from_iterable(heads), np.int64)


def _relations(
    trees: Sequence[DependencyTree | None], sizes: Sequence[int] | LongArray, numbers: dict[str, int]
) -> LongArray:
    """The numbers of all words' relations without subtypes, to which `numbers` is extended; -1 without a tree."""
    coded: Iterator[Iterable[int]] = (
        (numbers.setdefault(name.partition(":")[0], len(numbers)) for name in tree.relations) if tree else (-1,) * size
        for tree, size in zip(trees, sizes, strict=True)
    )
    return np.fromiter(chain.from_iterable(coded), np.int64)
