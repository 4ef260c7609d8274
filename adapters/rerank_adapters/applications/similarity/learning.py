"""Trains similarity systems on scored sentence pairs of several sources (Wu et al. 2013, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.applications.similarity.forest import train_forest
from rerank_adapters.applications.similarity.measure_data import family_of
from rerank_adapters.applications.similarity.model import Learner, Mode, SimilarityModel
from rerank_adapters.applications.similarity.monotone import differences_of
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.applications.similarity.scorers import tokens_of
from rerank_adapters.applications.similarity.selection import select
from rerank_adapters.applications.similarity.shrinkage import shrink
from rerank_adapters.data.overlap import LEARNT, contents
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.core.arrays import BoolArray, FloatArray, LongArray
from rerank_plugins.core.errors import suggestion
from rerank_plugins.kit.files.text import display_name
from rerank_plugins.similarity.measures.table import PAPER, POOLS, UNBOUNDED

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures

Progress = Callable[[str], None]  # called with each stage
MIN_PAIRS = 20  # of ten-fold cross-validation


def ignore(stage: str) -> None:
    """Report no stage."""


@dataclass(frozen=True)
class SimilaritySettings:
    """How a system is trained; the measures of the families and pools in `without` are left out.

    The learner is `shrunk`, on all measures that have a maximum (shrinkage.py), or `paper`, which selects from the
    measures of Wu et al. 2013 (selection.py; similarity/measures/table.py).
    """

    mode: Mode = "one"
    learner: Learner = "shrunk"
    without: tuple[str, ...] = ()
    seed: int = 1
    text: tuple[str, ...] = ("penn-tokenize",)


@dataclass(frozen=True, eq=False)
class Training:
    """The training pairs: (n, names) values of the measures, (n) scores, and (n) the number of each pair's source.

    `differences` (copies, names) are the losses of changed copies of sentences, under which no copy may gain.
    """

    names: tuple[str, ...]
    values: FloatArray
    scores: FloatArray
    source: LongArray
    differences: FloatArray | None = None

    def without(self, families: Sequence[str]) -> Training:
        """The same pairs without the measures of these families or pools. Raises ConfigError for an unknown name."""
        known = [*dict.fromkeys(map(family_of, self.names)), *POOLS]
        for family in families:
            if family not in known:
                raise ConfigError(f"no family of measures is named {family!r}{suggestion(family, known)}")
        out = {name for family in families for name in POOLS.get(family, ())}
        return self.only([name for name in self.names if family_of(name) not in families and name not in out])

    def only(self, names: Collection[str]) -> Training:
        """The same pairs with only those measures that are in `names`. Raises ConfigError if none is left."""
        keep = [i for i, name in enumerate(self.names) if name in names]
        if not keep:
            raise ConfigError("no measure is left: leave out fewer families")
        differences = None if self.differences is None else self.differences[:, keep]
        names = tuple(self.names[i] for i in keep)
        return replace(self, names=names, values=self.values[:, keep], differences=differences)

    def of(self, settings: SimilaritySettings) -> Training:
        """The same pairs with the measures that the settings allow. Raises ConfigError as `without` and `only` do."""
        allowed = self.without(settings.without)
        if settings.learner == "paper":
            return allowed.only(PAPER)
        return allowed.only([name for name in allowed.names if name not in UNBOUNDED])

    def rows(self, rows: BoolArray) -> Training:
        """Some of the pairs; their sources are numbered anew, from 0."""
        source = np.unique(self.source[rows], return_inverse=True)[1].astype(np.int64)
        return replace(self, values=self.values[rows], scores=self.scores[rows], source=source)


def gather(
    sources: Mapping[str, Sequence[Path]], measures: Measures, text: TextPipeline, progress: Progress, seed: int = 1
) -> Training:
    """The values of the measures for the pairs of all sources, and for changed copies of some of their sentences.

    Raises FormatError for a file without scores.
    """
    values, scores, source, sentences = [], [], [], []
    for index, path in ((index, path) for index, paths in enumerate(sources.values()) for path in paths):
        pairs = read_sentence_pairs(path)
        if pairs.scores is None:
            raise FormatError("the pairs have no scores to learn from", path=pairs.name)
        progress(f"measuring {pairs.name}")
        tokens = tokens_of(pairs.pairs, text)
        values.append(measures.columns(tokens))
        scores.append(pairs.scores)
        source.append(np.full(len(tokens), index, np.int64))
        sentences += [sentence for pair in tokens for sentence in pair]
    progress("measuring changed copies of sentences")
    differences = differences_of(sentences, measures, np.random.default_rng(seed))
    return Training(measures.names, np.concatenate(values), np.concatenate(scores), np.concatenate(source), differences)


def fit(
    training: Training, sources: Sequence[str], settings: SimilaritySettings, progress: Progress = ignore
) -> SimilarityModel:
    """Fit the regressions and, unless the mode is `one`, the forest that mixes them.

    Raises ConfigError for a source with too few pairs, and for a single source in any mode but `one`.
    """
    if settings.mode != "one" and len(sources) < 2:
        raise ConfigError(f"--mode {settings.mode} is for pairs of two sources or more, found one")
    parts = {"all": training}
    if settings.mode != "one":
        parts = {name: training.rows(training.source == index) for index, name in enumerate(sources)}
    regressions = {}
    for name, part in parts.items():
        pairs = len(part.scores)
        if pairs < MIN_PAIRS:
            raise ConfigError(f"{pairs} pairs of source {name!r} are too few: wanted {MIN_PAIRS} or more")
        progress(f"learning from {name}")
        rng = np.random.default_rng(settings.seed)
        if settings.learner == "paper":
            regressions[name] = select(part.values, part.scores, part.names, rng=rng)
        else:
            data = part.values, part.scores, part.source, part.names
            regressions[name] = shrink(*data, rng=rng, differences=part.differences)
    forest = train_forest(training.values, training.source, settings.seed) if settings.mode != "one" else None
    scale = float(training.scores.min()), float(training.scores.max())
    return SimilarityModel(settings.mode, training.names, regressions, scale, settings.text, forest)


def left_out(
    training: Training, sources: Sequence[str], settings: SimilaritySettings, progress: Progress = ignore
) -> dict[str, float]:
    """For each source, the Pearson correlation of its scores with those of a system trained on the other sources.

    It estimates the quality on pairs of a new source. A source is missing from the result if the others have too few
    pairs to train on.
    """
    correlations = {}
    for index, name in enumerate(sources):
        rest = [other for other in sources if other != name]
        rows = training.source == index
        if len(rest) < (1 if settings.mode == "one" else 2):
            continue
        others = training.rows(~rows)
        if (len(others.scores) if settings.mode == "one" else min(np.bincount(others.source))) < MIN_PAIRS:
            continue
        progress(f"leaving out {name}")
        model = fit(others, rest, settings)
        correlations[name] = pearson(model.scores(training.values[rows]), training.scores[rows])
    return correlations


def train_similarity(
    sources: Mapping[str, Sequence[Path]], measures: Measures, settings: SimilaritySettings, progress: Progress = ignore
) -> SimilarityModel:
    """Train a system, which holds the vectors if it uses them. Raises as `gather`, `fit` and `Training.of` do."""
    training = gather(sources, measures, TextPipeline(settings.text), progress, settings.seed).of(settings)
    model = fit(training, list(sources), settings, progress)
    vectors = measures.vectors if "vectors" in model.families else None
    data = {family: identity for family, identity in measures.data.items() if family in model.families}
    provenance = {
        "sources": {name: [display_name(path) for path in paths] for name, paths in sources.items()},
        LEARNT: contents(path for paths in sources.values() for path in paths),
        "pairs": len(training.scores),
        "left_out": left_out(training, list(sources), settings, progress),
        "settings": asdict(settings),
        "absent": [name for name in PAPER if name not in measures.names] if settings.learner == "paper" else [],
    }
    return replace(model, vectors=vectors, data=data, provenance=provenance)
