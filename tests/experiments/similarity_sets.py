"""The STS sets for the tables of similarity: measures of all pairs, sources to learn from, sets to test on.

Trained on the files of 2012, tested on those of 2013 to 2015. The STS benchmark is a third source, less every pair with
a sentence that stands in a test file.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rerank_adapters.evaluation.correlation import pearson
from rerank_adapters.formats.sentence_pairs import SentencePairs, read_sentence_pairs
from rerank_adapters.tasks.similarity import Training, measure
from rerank_adapters.tasks.similarity_data import measures_of
from rerank_adapters.text import TextPipeline
from rerank_plugins.feature_table import FloatArray

TESTS = ("2013.headlines", "2013.OnWN", "2013.FNWN", "2014.images", "2015.headlines")
SOURCES = {"2012.SMTeuroparl.train": "europarl", "2012.SMTeuroparl.test": "europarl", "2012.OnWN.test": "onwn"}
HEADER = ("headlines 13", "OnWN 13", "FNWN 13", "mean 13", "images 14", "headlines 15", "mean of all")


@dataclass(frozen=True)
class Sets:
    """Measures and scores of the pairs: to learn from (by the number of their source in `sources`) and to test on."""

    training: Training
    sources: tuple[str, ...]
    values: Mapping[str, FloatArray]
    scores: Mapping[str, FloatArray]
    dropped: int

    def only(self, sources: Sequence[str]) -> Training:
        """The pairs of some sources, which are the first ones."""
        rows = self.training.source < len(sources)
        t = self.training
        return Training(t.names, t.values[rows], t.scores[rows], t.source[rows])

    def row(self, scores: Mapping[str, FloatArray]) -> str:
        """Cells of a table: correlations of the test sets and their means weighted by pairs."""
        found = [pearson(scores[name], self.scores[name]) for name in TESTS]
        sizes = [len(self.scores[name]) for name in TESTS]
        means = np.average(found[:3], weights=sizes[:3]), np.average(found, weights=sizes)
        return " | ".join(f"{cell:.3f}" for cell in (*found[:3], means[0], *found[3:], means[1]))


def read_sets() -> Sets:
    """The sets in the folder that the command line names, with the data of its options."""
    given = argparse.ArgumentParser()
    given.add_argument("data", type=Path, help="with sts/*.tsv and perhaps eval_only/sts_benchmark/*.csv")
    for name in ("vectors", "esa", "svs", "wordnet"):
        given.add_argument(f"--{name}", type=Path)
    given.add_argument("--entities", default="capitals")
    options = vars(given.parse_args())
    data = options.pop("data")
    measures, text = measures_of(**options), TextPipeline(("penn-tokenize",))
    tests = {name: read_sentence_pairs(data / "sts" / f"{name}.test.tsv") for name in TESTS}
    parts = [(read_sentence_pairs(data / "sts" / f"{name}.tsv"), source) for name, source in SOURCES.items()]
    seen = {_normal(sentence) for found in tests.values() for pair in found.pairs for sentence in pair}
    dropped = 0
    for path in sorted((data / "eval_only" / "sts_benchmark").glob("*.csv")):
        found = read_sentence_pairs(path)
        kept = _unseen(found, seen)
        dropped += len(found.pairs) - len(kept.pairs)
        parts.append((kept, "benchmark"))
    sources = tuple(dict.fromkeys(source for _, source in parts))
    training = Training(
        measures.names,
        np.concatenate([measure(found, measures, text) for found, _ in parts]),
        np.concatenate([found.scores for found, _ in parts]),
        np.concatenate([np.full(len(found.pairs), sources.index(source)) for found, source in parts]),
    )
    values = {name: measure(found, measures, text) for name, found in tests.items()}
    return Sets(training, sources, values, {name: found.scores for name, found in tests.items()}, dropped)


def _unseen(found: SentencePairs, seen: set[str]) -> SentencePairs:
    keep = [i for i, pair in enumerate(found.pairs) if not seen & set(map(_normal, pair))]
    return replace(found, pairs=tuple(found.pairs[i] for i in keep), scores=found.scores[keep])


def _normal(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())
