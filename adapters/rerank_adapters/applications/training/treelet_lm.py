"""Training a treelet model, or HEADLEX, on treebanks, or on text that is parsed on the way; and testing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from rerank_adapters.applications.training.tree_source import BLOCK, TreeSource
from rerank_plugins.models.headlex import training as headlex
from rerank_plugins.models.headlex.model import HeadlexModel
from rerank_plugins.models.headlex.model import Settings as HeadlexSettings
from rerank_plugins.models.treelet.model import Settings, TreeletModel
from rerank_plugins.models.treelet.training import collect, train
from rerank_plugins.trees.constituency import Tree


def train_treelet_lm(
    source: TreeSource[Tree],
    paths: Sequence[Path],
    settings: Settings,
    progress: Callable[[str], None] = lambda stage: None,
) -> TreeletModel:
    """A model of the trees of the files; its provenance names the files and, where text was parsed, the parser."""
    collector = collect(source.trees(paths), settings)
    model = train(collector, settings, jobs=source.job.config.jobs, progress=progress)
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


def train_headlex(source: TreeSource[Tree], paths: Sequence[Path], settings: HeadlexSettings) -> HeadlexModel:
    """The head-lexicalised baseline, in the same way."""
    model = headlex.train(headlex.collect(source.trees(paths)), settings, jobs=source.job.config.jobs)
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


@dataclass(frozen=True)
class HeldOut:
    """How well a model predicts other trees: sentences, words, those not in the vocabulary, and perplexity.

    `perplexity` is exp(-Σ ln p(T) / (words + sentences)), of one tree a sentence: an upper bound.
    """

    sentences: int
    words: int
    unknown: int
    perplexity: float


def held_out(model: TreeletModel | HeadlexModel, trees: Iterable[Tree]) -> HeldOut:
    """The model on these trees, unknown words as their signatures."""
    sentences = words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, BLOCK)):
        leaves = [word for tree in block for word in tree.words()]
        sentences, words = sentences + len(block), words + len(leaves)
        unknown += sum(word not in model.vocabulary for word in leaves)
        total += float(model.score_trees(block).sum())
    return HeldOut(sentences, words, unknown, float(np.exp(-total / max(1, words + sentences))))
