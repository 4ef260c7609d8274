"""Training a dependency language model on treebanks, or on text that is parsed on the way; and testing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from rerank_adapters.applications.training.tree_source import BLOCK, TreeSource
from rerank_plugins.models.dependency_lm import DependencyModel, Settings, TreeCollector, train
from rerank_plugins.trees.dependency import DependencyTree


def train_dependency_lm(
    source: TreeSource[DependencyTree],
    paths: Sequence[Path],
    settings: Settings,
    progress: Callable[[str], None] = lambda stage: None,
) -> DependencyModel:
    """A model of the trees of the files; its provenance names the files and, where text was parsed, the parser."""
    collector = TreeCollector()
    collector.add(source.trees(paths))
    model = train(collector, settings, jobs=source.job.config.jobs, progress=progress)
    return replace(model, provenance={**model.provenance, **source.provenance(paths)})


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
