"""The STS sets for the tables of similarity: the measures of all pairs, the training sources and the test sets.

The training files are those of 2012, the test files those of 2013 to 2015. The STS benchmark is a third source, without
the pairs that have a sentence of a test file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, file_of, say
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.learning import Training
from rerank_adapters.applications.similarity.measure_data import measures_of
from rerank_adapters.applications.similarity.monotone import differences_of
from rerank_adapters.applications.similarity.pairs_file import SentencePairs, read_sentence_pairs
from rerank_adapters.applications.similarity.scorers import tokens_of
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import FormatError
from rerank_plugins.similarity.measures import tfidf
from rerank_plugins.similarity.measures.sentence_parts import Lexicon

TESTS = ("2013.headlines", "2013.OnWN", "2013.FNWN", "2014.images", "2015.headlines")
SOURCES = {"2012.SMTeuroparl.train": "europarl", "2012.SMTeuroparl.test": "europarl", "2012.OnWN.test": "onwn"}
HEADER = ("headlines 13", "OnWN 13", "FNWN 13", "mean 13", "images 14", "headlines 15", "mean of all")


@dataclass(frozen=True)
class Sets:
    """The measures and scores of the training pairs, whose sources are numbers in `sources`, and of the test pairs."""

    training: Training
    sources: tuple[str, ...]
    values: Mapping[str, FloatArray]
    scores: Mapping[str, FloatArray]
    dropped: int

    def only(self, sources: Sequence[str]) -> Training:
        """The training pairs of the first sources."""
        rows = self.training.source < len(sources)
        t = self.training
        return Training(t.names, t.values[rows], t.scores[rows], t.source[rows], t.differences)

    def row(self, scores: Mapping[str, FloatArray]) -> str:
        """The cells of a row: the correlations on the test sets and their means weighted by pairs."""
        values = [pearson(scores[name], self.scores[name]) for name in TESTS]
        sizes = [len(self.scores[name]) for name in TESTS]
        means = np.average(values[:3], weights=sizes[:3]), np.average(values, weights=sizes)
        return " | ".join(f"{cell:.3f}" for cell in (*values[:3], means[0], *values[3:], means[1]))


def with_measures(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument of the data folder and the options of measures, which the command passes to `read_sets`."""
    options = (
        click.argument("data", type=FOLDER),
        click.option("--vectors", type=FILE, help="A model made by `rerank train random-indexing`."),
        click.option("--esa", type=FILE, help="A model made by `rerank train esa`."),
        click.option(
            "--svs",
            type=click.Path(path_type=Path),
            help="A model made by `rerank train svs`; `en` is the embedded one.",
        ),
        click.option("--wordnet", type=FOLDER, help="WordNet's folder `dict`."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_sets(data: Path, **options: Any) -> Sets:
    """Read the sets in a folder and compute the measures. Raises RerankError where a file is missing."""
    for name in (*(f"{test}.test" for test in TESTS), *SOURCES):
        file_of(data, f"sts/{name}.tsv")
    say("measuring all pairs")
    measures, text = measures_of(**options), TextPipeline(("penn-tokenize",))
    tests = {name: _scored(data / "sts" / f"{name}.test.tsv") for name in TESTS}
    parts = [(_scored(data / "sts" / f"{name}.tsv"), source) for name, source in SOURCES.items()]
    seen = {_normal(sentence) for test in tests.values() for pair in test.pairs for sentence in pair}
    dropped = 0
    for path in sorted((data / "eval_only" / "sts_benchmark").glob("*.csv")):
        pairs = _scored(path)
        kept = _unseen(pairs, seen)
        dropped += len(pairs.pairs) - len(kept.pairs)
        parts.append((kept, "benchmark"))
    sources = tuple(dict.fromkeys(source for _, source in parts))
    lines = [line for pairs, source in parts if source != "benchmark" for pair in pairs.pairs for line in pair]
    sentences = [line.split() for line in text.apply(lines)]
    training = Training(
        measures.names,
        np.concatenate([measures.columns(tokens_of(pairs.pairs, text)) for pairs, _ in parts]),
        np.concatenate([_scores(pairs) for pairs, _ in parts]),
        np.concatenate([np.full(len(pairs.pairs), sources.index(source)) for pairs, source in parts]),
        differences_of(sentences, measures, np.random.default_rng(1)),
    )
    values = {name: measures.columns(tokens_of(pairs.pairs, text)) for name, pairs in tests.items()}
    return Sets(training, sources, values, {name: _scores(pairs) for name, pairs in tests.items()}, dropped)


def _scored(path: Path) -> SentencePairs:
    pairs = read_sentence_pairs(path)
    if pairs.scores is None:
        raise FormatError("has no scores, expected one for each pair", path=str(path))
    return pairs


def _scores(pairs: SentencePairs) -> FloatArray:
    assert pairs.scores is not None  # `_scored` ensures it
    return pairs.scores


@dataclass(frozen=True)
class ScoredPairs:
    """The tokenised sentences of pairs, and (n) the human scores of their similarity."""

    first: list[list[str]]
    second: list[list[str]]
    scores: FloatArray


def read_scored(path: Path, text: TextPipeline) -> ScoredPairs:
    """The pairs of a file. Raises FormatError where it has no scores."""
    pairs = _scored(path)
    first, second = ([s.split() for s in text.apply([pair[side] for pair in pairs.pairs])] for side in (0, 1))
    return ScoredPairs(first, second, _scores(pairs))


def idf_of(pairs: ScoredPairs) -> dict[str, float]:
    """The idf of words among the sentences of the pairs, as the measures have it."""
    lexicon = Lexicon()
    texts = [(lexicon.text(a), lexicon.text(b)) for a, b in zip(pairs.first, pairs.second, strict=True)]
    return tfidf.bags_of(texts, tfidf.words)[1]


def _unseen(pairs: SentencePairs, seen: set[str]) -> SentencePairs:
    keep = [i for i, pair in enumerate(pairs.pairs) if not seen & set(map(_normal, pair))]
    return replace(pairs, pairs=tuple(pairs.pairs[i] for i in keep), scores=_scores(pairs)[keep])


def _normal(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())
