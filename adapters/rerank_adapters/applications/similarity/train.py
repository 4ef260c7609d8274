"""`rerank similarity train`: trains similarity systems on scored sentence pairs of several sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from rerank_adapters.applications.similarity.measure import measure
from rerank_adapters.applications.similarity.measure_data import family_of, measures_of
from rerank_adapters.applications.similarity.model import Learner, Mode, SimilarityModel, train_forest, write_similarity
from rerank_adapters.applications.similarity.monotone import differences_of
from rerank_adapters.applications.similarity.pairs_file import read_sentence_pairs
from rerank_adapters.applications.similarity.regressions import select, select_as_paper, shrink
from rerank_adapters.applications.similarity.scores import data_options, pearson
from rerank_adapters.chain.overlap import LEARNT, contents
from rerank_adapters.commands import options
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, FormatError
from rerank_plugins.core.arrays import FloatArray, LongArray
from rerank_plugins.core.registry import suggestion
from rerank_plugins.kit.files.text import display_name
from rerank_plugins.similarity.measures.table import PAPER, POOLS, UNBOUNDED

if TYPE_CHECKING:
    from rerank_plugins.similarity.measures.table import Measures

Progress = Callable[[str], None]  # called with each stage
SHOWN = 10  # measures of a regression that has them all
PENALTIES = {"shrunk": 30.0, "selected": 100.0}  # λ of the ridge regressions
FEWEST = 20  # the least number of pairs for ten-fold cross-validation


@dataclass(frozen=True)
class SimilaritySettings:
    """How a system is trained; the measures of the families and pools in `without` are left out.

    The learner is `shrunk`, on all measures that have a maximum (`shrink`), or `selected`, on at most `most` measures
    (`select`), both by ridge regression with the penalty of PENALTIES; or `paper`, which uses neither setting and
    selects from the measures of Wu et al. 2013 (similarity/measures/table.py).
    """

    mode: Mode = "one"
    learner: Learner = "shrunk"
    without: tuple[str, ...] = ()
    most: int = 30
    seed: int = 1
    text: tuple[str, ...] = ("penn-tokenize",)


def by_source(arguments: Sequence[str]) -> dict[str, list[Path]]:
    """Files by source, from `SOURCE=FILE`, or from `FILE`: then the source is the file's name up to the first dot."""
    sources: dict[str, list[Path]] = {}
    for argument in arguments:
        source, sign, path = argument.partition("=")
        has_source = sign and "/" not in source
        name = source if has_source else Path(argument).name.partition(".")[0]
        sources.setdefault(name, []).append(Path(path if has_source else argument))
    return sources


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
        if settings.learner == "shrunk":
            return allowed.only([name for name in allowed.names if name not in UNBOUNDED])
        return allowed.only(PAPER) if settings.learner == "paper" else allowed


def gather(
    sources: Mapping[str, Sequence[Path]], measures: Measures, text: TextPipeline, progress: Progress, seed: int = 1
) -> Training:
    """The values of the measures for the pairs of all sources, and for changed copies of some of their sentences.

    Raises FormatError for a file without scores.
    """
    values, scores, source, lines = [], [], [], []
    for index, path in ((index, path) for index, paths in enumerate(sources.values()) for path in paths):
        sentences = read_sentence_pairs(path)
        if sentences.scores is None:
            raise FormatError("the pairs have no scores to learn from", path=sentences.name)
        progress(f"measuring {sentences.name}")
        values.append(measure(sentences, measures, text))
        scores.append(sentences.scores)
        source.append(np.full(len(sentences.pairs), index, np.int64))
        lines += [line for pair in sentences.pairs for line in pair]
    progress("measuring changed copies of sentences")
    tokens = [line.split() for line in text.apply(lines)]
    differences = differences_of(tokens, measures, np.random.default_rng(seed))
    return Training(measures.names, np.concatenate(values), np.concatenate(scores), np.concatenate(source), differences)


def fit(
    training: Training, sources: Sequence[str], settings: SimilaritySettings, progress: Progress = lambda stage: None
) -> SimilarityModel:
    """Fit the regressions and, unless the mode is `one`, the forest that mixes them.

    Raises ConfigError for a source with too few pairs, and for a single source in any mode but `one`.
    """
    if settings.mode != "one" and len(sources) < 2:
        raise ConfigError(f"--mode {settings.mode} is for pairs of two sources or more, found one")
    parts = {"all": np.full(len(training.scores), True)}
    if settings.mode != "one":
        parts = {name: training.source == index for index, name in enumerate(sources)}
    regressions = {}
    for name, rows in parts.items():
        if rows.sum() < FEWEST:
            raise ConfigError(f"{rows.sum()} pairs of source {name!r} are too few: wanted {FEWEST} or more")
        progress(f"learning from {name}")
        data = training.values[rows], training.scores[rows], training.source[rows], training.names
        rng, penalty = np.random.default_rng(settings.seed), PENALTIES.get(settings.learner, 0.0)
        if settings.learner == "selected":
            regressions[name] = select(*data, penalty=penalty, most=settings.most, rng=rng)
        elif settings.learner == "paper":
            values, scores, _, names = data
            regressions[name] = select_as_paper(values, scores, names, rng=rng)
        else:
            regressions[name] = shrink(*data, penalty=penalty, rng=rng, differences=training.differences)
    forest = train_forest(training.values, training.source, settings.seed) if settings.mode != "one" else None
    scale = float(training.scores.min()), float(training.scores.max())
    return SimilarityModel(settings.mode, training.names, regressions, scale, settings.text, forest)


def left_out(
    training: Training, sources: Sequence[str], settings: SimilaritySettings, progress: Progress = lambda stage: None
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
        numbers = training.source[~rows] - (training.source[~rows] > index)
        others = replace(training, values=training.values[~rows], scores=training.scores[~rows], source=numbers)
        if (len(numbers) if settings.mode == "one" else min(np.bincount(numbers))) < FEWEST:
            continue
        progress(f"leaving out {name}")
        model = fit(others, rest, settings)
        correlations[name] = pearson(model.scores(training.values[rows]), training.scores[rows])
    return correlations


def train_similarity(
    sources: Mapping[str, Sequence[Path]],
    measures: Measures,
    settings: SimilaritySettings,
    progress: Progress = lambda stage: None,
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


def training_lines(model: SimilarityModel) -> list[str]:
    """What each regression is made of, and the correlations in cross-validation and for sources left out."""
    lines = []
    for source, regression in model.regressions.items():
        size = len(regression.columns)
        lines.append(f"{source}: {size} measures, r {regression.correlation:.3f} in ten-fold cross-validation")
        shown = zip(regression.columns, regression.weights, strict=True)
        if regression.curve:
            for (column, weight), (_, value) in zip(shown, regression.curve, strict=False):
                lines.append(f"  {column:<32} r {value:.3f}  weight {weight:+.3f}")
            continue
        lines += [f"  {column:<32} weight {weight:+.3f}" for column, weight in islice(shown, SHOWN)]
        lines += [f"  and {size - SHOWN} more"] if size > SHOWN else []
    if absent := model.provenance.get("absent"):
        lines.append(f"measures of the paper whose data are not given: {', '.join(absent)}")
    left_out = ", ".join(f"{source} r {value:.3f}" for source, value in model.provenance.get("left_out", {}).items())
    return [*lines, f"for a source left out: {left_out}"] if left_out else lines


def plot_curve(model: SimilarityModel, path: Path) -> None:
    """The correlation in cross-validation after each round of selection, a line a source (Wu et al. 2013, Figure 1)."""
    figure, axes = new_figure()
    for source, regression in model.regressions.items():
        values = [value for _, value in regression.curve]
        axes.plot(range(1, len(values) + 1), values, label=source)
        axes.plot(len(regression.columns), values[len(regression.columns) - 1], "o", color=axes.lines[-1].get_color())
    axes.set_xlabel("measures selected")
    axes.set_ylabel("Pearson's r in cross-validation")
    axes.legend()
    save_figure(figure, path)


@click.command("train")
@click.argument("files", nargs=-1, required=True, metavar="[SOURCE=]FILE...")
@options.model_output
@data_options
@click.option("--mode", type=click.Choice(["one", "mixed", "best"]), default="one", show_default=True,
              help="one: a single regression for all sources. mixed, best: a regression for each source; a random "
                   "forest weighs them or chooses one.")  # fmt: skip
@click.option("--learner", type=click.Choice(["shrunk", "selected", "paper"]), default="shrunk", show_default=True,
              help="shrunk: all measures, each shrunk the more, the less it correlates with the scores by itself; for "
                   "new sources. selected: a few, by forward selection. paper: as Wu et al. (2013).")  # fmt: skip
@click.option("--without", multiple=True, metavar="FAMILY",
              help="Leave out this family (overlap, ngrams, strings, entities, shape, tfidf …) or set of the paper "
                   "(dkpro, takelab, mayo). Repeatable.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the folds and the forest.")
@click.option("--plot", type=options.output_file, metavar="FILE",
              help="Plot the curve of the selection to FILE (--learner selected, paper; extra `plot`).")  # fmt: skip
@options.text_option
def command(
    files: tuple[str, ...], output: Path, data: dict[str, Any], mode: str, learner: str, without: tuple[str, ...],
    seed: int, plot: Path | None, steps: tuple[str, ...],
) -> None:  # fmt: skip
    """Learn from FILEs of scored pairs; those of one SOURCE (default: the name up to its first dot) belong together.

    If there are several sources, each is left out in turn, to estimate the quality on pairs of a new source.
    --learner paper is the system of Wu et al. (2013): linear regression on the pairs of all sources alike, with
    those of the paper's measures that forward selection by ten-fold cross-validation keeps. --learner selected is
    similar: forward selection from all measures, and ridge regression within sources.

    \b
    rerank similarity train onwn=OnWN.tsv news=SMTnews.tsv \\
        --vectors news.ri -o model.sim
    """  # noqa: D301
    if plot is not None and learner == "shrunk":
        raise ConfigError("--plot draws the curve of a selection: it needs --learner selected or paper")
    settings = SimilaritySettings(mode, learner, without, seed=seed, text=options.text_steps(steps))  # type: ignore[arg-type]
    with StatusLine() as stages:
        model = train_similarity(by_source(files), measures_of(**data), settings, stages)
        size = write_similarity(model, output)
    for line in training_lines(model):
        click.echo(line, err=True)
    click.echo(f"{output}: {size / 1e6:.2f} MB", err=True)
    if plot is not None:
        plot_curve(model, plot)
        click.echo(f"{plot}: the curve of the selection", err=True)
