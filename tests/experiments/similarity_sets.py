"""The STS sets for the tables of similarity: measures of all pairs, sources to learn from, sets to test on.

Trained on the files of 2012, tested on those of 2013 to 2015. The STS benchmark is a third source, less every pair with
a sentence that stands in a test file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.measures_data import measures_of
from rerank_adapters.applications.similarity.pairs_file import SentencePairs, read_sentence_pairs
from rerank_adapters.applications.similarity.training import Training, measure
from rerank_adapters.text import TextPipeline
from rerank_plugins.arrays import FloatArray
from rerank_plugins.errors import FormatError
from tests.experiments.experiment import FILE, FOLDER, file_of, say

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


def with_measures(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the folder of data and the options of measures, which the command passes to `read_sets`."""
    options = (
        click.argument("data", type=FOLDER),
        click.option("--vectors", type=FILE, help="A model of `rerank train random-indexing`."),
        click.option("--esa", type=FILE, help="A model of `rerank train esa`."),
        click.option(
            "--svs", type=click.Path(path_type=Path), help="A model of `rerank train svs`; `en`: the embedded one."
        ),
        click.option("--wordnet", type=FOLDER, help="WordNet's folder `dict`."),
        click.option("--entities", default="capitals", show_default=True, help="What finds names."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_sets(data: Path, **options: Any) -> Sets:
    """The sets in a folder, with the measures of the options. Raises RerankError where a file is missing."""
    for name in (*(f"{test}.test" for test in TESTS), *SOURCES):
        file_of(data, f"sts/{name}.tsv")
    say("measuring all pairs")
    measures, text = measures_of(**options), TextPipeline(("penn-tokenize",))
    tests = {name: _scored(data / "sts" / f"{name}.test.tsv") for name in TESTS}
    parts = [(_scored(data / "sts" / f"{name}.tsv"), source) for name, source in SOURCES.items()]
    seen = {_normal(sentence) for found in tests.values() for pair in found.pairs for sentence in pair}
    dropped = 0
    for path in sorted((data / "eval_only" / "sts_benchmark").glob("*.csv")):
        found = _scored(path)
        kept = _unseen(found, seen)
        dropped += len(found.pairs) - len(kept.pairs)
        parts.append((kept, "benchmark"))
    sources = tuple(dict.fromkeys(source for _, source in parts))
    training = Training(
        measures.names,
        np.concatenate([measure(found, measures, text) for found, _ in parts]),
        np.concatenate([_scores(found) for found, _ in parts]),
        np.concatenate([np.full(len(found.pairs), sources.index(source)) for found, source in parts]),
    )
    values = {name: measure(found, measures, text) for name, found in tests.items()}
    return Sets(training, sources, values, {name: _scores(found) for name, found in tests.items()}, dropped)


def _scored(path: Path) -> SentencePairs:
    found = read_sentence_pairs(path)
    if found.scores is None:
        raise FormatError("has no scores, expected one of each pair", path=str(path))
    return found


def _scores(found: SentencePairs) -> FloatArray:
    assert found.scores is not None  # `_scored` has seen to it
    return found.scores


@dataclass(frozen=True)
class ScoredPairs:
    """Tokenised sentences of pairs, and (n) people's scores of their similarity."""

    first: list[list[str]]
    second: list[list[str]]
    scores: FloatArray


def read_scored(path: Path, text: TextPipeline) -> ScoredPairs:
    """The pairs of a file. Raises FormatError where it has no scores."""
    found = _scored(path)
    first, second = ([s.split() for s in text.apply([pair[side] for pair in found.pairs])] for side in (0, 1))
    return ScoredPairs(first, second, _scores(found))


def _unseen(found: SentencePairs, seen: set[str]) -> SentencePairs:
    keep = [i for i, pair in enumerate(found.pairs) if not seen & set(map(_normal, pair))]
    return replace(found, pairs=tuple(found.pairs[i] for i in keep), scores=_scores(found)[keep])


def _normal(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())
