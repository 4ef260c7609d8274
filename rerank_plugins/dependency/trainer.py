"""The trainer of dependency language models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.interfaces import option
from rerank_plugins.core.trainer import Trained, Trainer, TrainingData, counted

if TYPE_CHECKING:
    from rerank_plugins.dependency.model import DependencyModel

BLOCK = 1000  # held-out trees that are scored at a time


@dataclass
class DependencyLMTrainer(Trainer):
    """Train a dependency language model on FILEs.

    A FILE whose name ends in .conllu (or .conllu.xz and the like) is a treebank; any other is text with one sentence
    per line, such as the references of n-best lists. Text is parsed during training, and its parses are stored in the
    cache of parses: the next training parses nothing again.

    \b
    rerank train dependency-lm treebank.conllu news.txt.xz -o news.deplm
    rerank train dependency-lm novels.txt.xz --smoothing kneser-ney --prune 0,1 \\
        -o novels.deplm
    """  # noqa: D301

    reads = "dependencies"
    uses = ("language", "spoken", "held-out", "memory", "cluster")
    default_parser = "english"

    order: int = option(4, within="[1, 6]", doc="Number of words in a path: a word and its ancestors.")
    unlabelled: bool = option(False, doc="Leave the labels of arcs out of the contexts.")
    smoothing: Literal["stupid-backoff", "kneser-ney"] = option(
        "stupid-backoff", doc="Stupid backoff, or interpolated modified Kneser–Ney smoothing."
    )
    min_count: int = option(5, within="[1, ]", doc="Treat words that occur less often than this as unknown.")
    prune: str = option(
        "0", metavar="COUNTS", doc="Prune paths that occur at most this often, one count for each order: 0,1,2."
    )
    subtypes: bool = option(False, doc="Distinguish subtypes of relations: nsubj:pass from nsubj.")
    lowercase: bool = option(False, doc="Convert all words to lower case.")

    def train(self, data: TrainingData) -> Trained:
        """A `DependencyModel`. Raises ModelError where there are no trees."""
        from rerank_plugins.dependency.corpus import TreeCollector
        from rerank_plugins.dependency.model import Settings, train
        from rerank_plugins.dependency.model_file import write_model
        from rerank_plugins.kit.backoff.estimation import estimate
        from rerank_plugins.kit.backoff.shards.rounds import sharded_estimator
        from rerank_plugins.kit.backoff.smoothing import parse_prune

        settings = Settings(
            self.order, not self.unlabelled, self.smoothing, self.min_count, self.lowercase, self.subtypes,
            parse_prune(self.prune),
        )  # fmt: skip
        collector = TreeCollector(data.workspace)
        collector.add(data.examples())
        estimator = sharded_estimator(*data.cluster) if data.cluster else estimate
        model = train(collector, settings, workspace=data.workspace, jobs=data.jobs, estimator=estimator)
        model = replace(model, provenance={**model.provenance, **data.provenance})
        ngrams = ", ".join(f"{n:,}" for n in model.tables.sizes)
        trees, words = counted(model.provenance["trees"], "tree"), counted(model.provenance["words"], "word")
        return Trained(
            lambda path: write_model(model, path, data.trained_on()),
            [f"{trees}{data.parsed}, {words}, {len(model.vocabulary):,} in the vocabulary; n-grams {ngrams}"],
            evaluate=lambda held_out: evaluate(model, held_out),
        )


@dataclass(frozen=True)
class HeldOut:
    """How well a model predicts held-out trees: words, unknown words, and exp(-mean ln p) of the known words."""

    words: int
    unknown: int
    perplexity: float

    def __str__(self) -> str:
        known = f"perplexity of the others {self.perplexity:.1f}"
        return f"{counted(self.words, 'word')}, {self.unknown:,} unknown, {known}"


def evaluate(model: DependencyModel, trees: Iterable[DependencyTree]) -> HeldOut:
    """The perplexity of the known words.

    Scores of stupid backoff are not probabilities: their perplexity compares with that of other such models only.
    """
    import numpy as np

    words = unknown = 0
    total = 0.0
    stream = iter(trees)
    while block := list(islice(stream, BLOCK)):
        known = np.array([word in model for tree in block for word in tree.words], bool)
        scores = np.concatenate([*model.score(block), np.zeros(0)])
        words, unknown = words + len(known), unknown + int(np.count_nonzero(~known))
        total += float(scores[known].sum())
    return HeldOut(words, unknown, float(np.exp(-total / max(1, words - unknown))))
