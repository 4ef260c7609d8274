"""`similarity`: how alike the sentences of pairs are, by measures, metrics and systems trained on scored pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.applications.similarity.measure import PairScorer, SimilarityMeasure, score_pairs, tokens_of
from rerank_adapters.applications.similarity.measure_data import check_measure, family_of, measures_of
from rerank_adapters.applications.similarity.model import SimilarityModel, read_similarity
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.chain.loading import all_plugins, label_of, load
from rerank_adapters.given_texts import Text, checked_pairs, pipeline_of, shown
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, Metric
from rerank_plugins.core.arrays import FloatArray


def similarity(
    pairs: Path | Iterable[tuple[Text, Text]],
    measures: Any,
    *,
    vectors: str | Path | None = None,
    esa: str | Path | None = None,
    svs: str | Path | None = None,
    wordnet: str | Path | None = None,
    entities: str = "capitals",
    text: str | Sequence[str] = "penn-tokenize",
) -> Rows:
    """How alike in meaning two sentences are, a column for each measure or system.

    The columns are `first` and `second`, the two sentences, then the scores. Words are weighted by their rarity among
    the pairs, so give pairs of one kind together.

    `pairs`     pairs of texts or of sequences of words, or a Path: a file of pairs, as the STS tasks'
    `measures`  one or many: names of measures ("tfidf.stems"), metrics as `load` takes them ("chrf"), which score the
                first sentence with the second as its reference, files of `rerank similarity train`, objects that
                `load` has made of any of these, or a dict of these by name
    `vectors`, `esa`, `svs`, `wordnet`, `entities`  the data of measures, as the options of `rerank similarity apply`
    `text`      the text steps of texts before measures; systems and objects have their own. Words are taken as they are

    Raises TypeError for a value that is no pair; ConfigError for an unknown measure and for data that a system was
    trained with and that are not given, or others.

    >>> similarity([("The dog barks.", "The dogs bark."), ("A dog barks.", "It rains.")], ["strings.edits"])
    first           second          strings.edits
    The dog barks.  The dogs bark.       0.866667
    A dog barks.    It rains.            0.384615
    """
    given = list(read_sentence_pairs(pairs).pairs) if isinstance(pairs, Path) else checked_pairs(pairs)
    steps = pipeline_of(text)
    specs = named_measures(measures)
    paths = {"vectors": vectors, "wordnet": wordnet, "esa": esa, "svs": svs}
    files = {name: Path(path) for name, path in paths.items() if path is not None}
    known = measures_of(**files, entities=entities)
    columns: dict[str, FloatArray] = {}
    scorers = {name: metric_of(spec, known.names) or system_of(spec) for name, spec in specs.items()}
    alone = {name: str(specs[name]) for name, scorer in scorers.items() if scorer is None}
    for measure in alone.values():
        check_measure(measure, known)
    if alone:
        values = known.columns(tokens_of(given, steps), set(map(family_of, alone.values())))
        columns = {name: values[:, known.names.index(measure)] for name, measure in alone.items()}
    for name, scorer in scorers.items():
        if isinstance(scorer, Metric):
            columns[name] = metric_scores(scorer, given, steps)
        elif isinstance(scorer, PairScorer):
            columns[name] = scorer.scores(given)
        elif scorer is not None:
            columns[name] = score_pairs(scorer, given, known)
    rows = zip(
        *([shown(pair[side]) for pair in given] for side in (0, 1)),
        *(columns[name].tolist() for name in specs),
        strict=True,
    )
    return Rows(["first", "second", *specs], rows)


def named_measures(measures: Any) -> dict[str, Any]:
    """By name, the one or many measures and systems that are given. Raises ConfigError for two of the same name."""
    if isinstance(measures, Mapping):
        return {str(name): spec for name, spec in measures.items()}
    alone = isinstance(measures, str | Path) or not isinstance(measures, Iterable)
    specs: dict[str, Any] = {}
    for spec in [measures] if alone else measures:
        name = spec.name if isinstance(spec, SimilarityMeasure) else label_of(spec)
        if name in specs:
            raise ConfigError(f"two measures are called {name!r}: give one a name, as in {{name: measure}}")
        specs[name] = spec
    return specs


def metric_of(spec: Any, measures: Collection[str]) -> Metric | None:
    """The metric that is given as an object or by its name, with options; None for what is none.

    The names of `measures` are not those of metrics. Raises ConfigError for wrong options of a metric.
    """
    if isinstance(spec, Metric):
        return spec
    if not isinstance(spec, str) or spec in measures:
        return None
    if all_plugins().find("metric", spec.partition(",")[0]) is None:
        return None
    metric: Metric = load(spec, "metric")
    return metric


def metric_scores(metric: Metric, pairs: Sequence[tuple[Text, Text]], text: TextPipeline) -> FloatArray:
    """(pairs) the sentence score of each first sentence with the second as its reference, after the text steps."""
    if not pairs:
        return np.zeros(0)
    words = tokens_of(pairs, text)
    sides = [[[" ".join(pair[side])] for pair in words] for side in (0, 1)]
    return metric.sentence_scores(metric.statistics(*sides))


def system_of(spec: Any) -> SimilarityModel | PairScorer | None:
    """The trained system or the measure that is given, or the system in the file; None for the name of a measure.

    Raises ConfigError for anything else, ModelError for a file of another kind.
    """
    if isinstance(spec, SimilarityModel | PairScorer):
        return spec
    if isinstance(spec, Path) or (isinstance(spec, str) and Path(spec).is_file()):
        return read_similarity(Path(spec))
    if not isinstance(spec, str):
        raise ConfigError(f"measures: wanted the name of a measure, a file or a trained system, found {spec!r:.60}")
    return None
