"""Print how well people like what is chosen among WMT's systems, and which features agree with people.

ARCHIVE is a tar as `wmt_table` reads it, RATINGS a file of MQM scores: lines of `system score segment`, where 0 is a
perfect translation and each error counts down. PAIR is its language pair. The lists are the rated outputs of a segment;
the outputs of all systems are evidence for the agreement with each system. The rated segments are halved; on each half
the system of the highest mean score is chosen and the weights are tuned, and the other half is reranked. Both halves
together are in the tables. Intervals are of the bootstrap over segments.

The second table has, for each feature, how often it orders two outputs of a segment as people do (of the pairs with
different scores; ties of the feature count half). 50 % is chance.

\b
    python -m docs.results.scripts.mqm_table wmt21.tar.xz mqm21_zhen.tsv zh-en --syntax
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from docs.results.scripts.wmt_table import METRIC, TUNER, Task, features, read_tasks
from rerank_adapters import FeatureTable, NBestList, Pipeline, load
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import FloatArray, FormatError

RESAMPLES = 2000
Ratings = dict[int, dict[str, float]]


class Rated(NamedTuple):
    """A segment: its number, the list of its rated outputs, and the score of each hypothesis of the list."""

    segment: int
    nbest: NBestList
    scores: FloatArray


class Half(NamedTuple):
    """Some of the rated segments, and the features of their lists."""

    rated: list[Rated]
    table: FeatureTable

    @property
    def lists(self) -> list[NBestList]:
        """The lists of the segments."""
        return [one.nbest for one in self.rated]


def read_ratings(path: Path) -> Ratings:
    """The score of each system by segment, from 0. Raises FormatError for a line without system, score and segment."""
    ratings: Ratings = {}
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fields = line.split()
        if at == 1 and fields[-1:] == ["seg_id"]:
            continue
        try:
            system, score, segment = fields
            if segment != "total":
                ratings.setdefault(int(segment) - 1, {})[system] = float(score)
        except ValueError:
            raise FormatError(f"found {line!r}, wanted `system score segment`", path=str(path), line=at) from None
    return ratings


def rated_lists(task: Task, ratings: Ratings) -> list[Rated]:
    """The lists of the rated segments. A text of several systems has the mean of their scores."""
    lists = task.lists()
    rated = []
    for segment, scores in sorted(ratings.items()):
        by_text: dict[str, list[float]] = {}
        for system in scores.keys() & task.systems.keys():
            by_text.setdefault(task.systems[system][segment], []).append(scores[system])
        kept = tuple(hypothesis for hypothesis in lists[segment] if hypothesis.text in by_text)
        means = np.array([np.mean(by_text[hypothesis.text]) for hypothesis in kept])
        rated.append(Rated(segment, replace(lists[segment], hypotheses=kept), means))
    return rated


def interval(differences: FloatArray) -> str:
    """The 95 % interval of a mean over segments, by the bootstrap."""
    sampled = np.random.default_rng(1).integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[sampled].mean(axis=1), [2.5, 97.5])
    return f"{low:+.2f} to {high:+.2f}"


def agreement(values: FloatArray, scores: FloatArray) -> tuple[float, int]:
    """Of the pairs that people tell apart, the number that the values order alike (ties half), and that of all."""
    first, second = np.triu_indices(len(scores), 1)
    people = np.sign(scores[first] - scores[second])
    alike = np.sign(values[first] - values[second]) * people
    return float((alike > 0).sum() + 0.5 * ((alike == 0) & (people != 0)).sum()), int((people != 0).sum())


@experiment("mqm_table", __doc__)
@click.argument("archive", type=FILE)
@click.argument("ratings", type=FILE)
@click.argument("pair")
@click.option("--syntax", is_flag=True, help="Add the embedded syntactic models (into English).")
@click.option("--jobs", type=click.IntRange(1), default=1, help="Extract features in this many processes.")
def main(archive: Path, ratings: Path, pair: str, syntax: bool, jobs: int) -> None:
    """Tune towards people and towards BLEU and chrF on one half, and rate the choices on the other one."""
    task, scores = read_tasks(archive)[pair], read_ratings(ratings)
    rated = rated_lists(task, scores)
    systems = sorted({name for some in scores.values() for name in some} & task.systems.keys())
    first, second = rated[len(rated) // 2 :], rated[: len(rated) // 2]  # in the order in which they are reranked
    rated = [*first, *second]

    def means(some: Sequence[Rated]) -> FloatArray:
        """(segments, systems) the scores."""
        return np.array([[scores[one.segment][system] for system in systems] for one in some])

    chosen = np.concatenate(
        [means(test)[:, int(means(tune).mean(axis=0).argmax())] for tune, test in ((second, first), (first, second))]
    )
    of_systems = means(rated)
    best = int(of_systems.mean(axis=0).argmax())
    rows: list[tuple[str, ...]] = [("the system chosen on the other half", f"{chosen.mean():.2f}", "", "")]
    entries = {f"the best system, in hindsight ({systems[best]})": of_systems[:, best]}
    halves: list[Half] = []  # with the features of the last kind, which are all
    for name, some in features(pair.partition("-")[2], syntax).items():
        extracting = Pipeline(some, jobs=jobs)
        halves = [Half(part, extracting.transform([one.nbest for one in part])) for part in (first, second)]
        for goal in ("people", "BLEU and chrF"):
            say(f"{name}, tuned towards {goal}")
            entries[f"{name}, tuned towards {goal}"] = np.concatenate(
                [reranked(some, goal, task, tune, test) for tune, test in (halves[::-1], halves)]
            )
    for name, values in entries.items():
        difference = values - chosen
        rows.append((name, f"{values.mean():.2f}", f"{difference.mean():+.2f}", interval(difference)))
    header = ("output", "mean score", "− chosen", "95 % interval")
    print(markdown_table(Table(f"{pair}: {len(rated)} segments, {len(systems)} rated systems", header, tuple(rows))))
    print(markdown_table(agreements(task, rated, [half.table for half in halves])))


def reranked(some: Sequence[object], goal: str, task: Task, tune: Half, test: Half) -> FloatArray:
    """(segments of the test half) people's score of each choice by weights that are tuned on the other half."""
    with TemporaryDirectory() as folder:
        metric: object = METRIC
        references = [task.references[one.segment] for one in tune.rated]
        if goal == "people":
            references = [texts[:1] for texts in references]  # scores are looked up by hypothesis and reference
            pairs = Path(folder, "pairs.tsv")
            pairs.write_text(
                "".join(
                    f"{text}\t{reference}\t{score}\n"
                    for one, (reference,) in zip(tune.rated, references, strict=True)
                    for text, score in zip(one.nbest.texts, one.scores, strict=True)
                ),
                encoding="utf-8",
            )
            metric = {"use": "column", "file": str(pairs)}
        pipeline = Pipeline(some, tuner=TUNER, metric=metric, seed=1).fit(tune.lists, references, table=tune.table)
        choices = pipeline.predict(test.lists, table=test.table)
    return np.array([one.scores[choice.order[0]] for one, choice in zip(test.rated, choices, strict=True)])


def agreements(task: Task, rated: Sequence[Rated], tables: Sequence[FeatureTable]) -> Table:
    """How often features, and the metrics against the references, order two outputs of a segment as people do."""
    columns: dict[str, list[FloatArray]] = {}
    for metric in (load("bleu"), load("chrf")):
        statistics = metric.statistics(
            [one.nbest.texts for one in rated], [task.references[one.segment] for one in rated]
        )
        bounds = np.cumsum([len(one.nbest) for one in rated])[:-1]
        name = f"{type(metric).__name__} against the references"
        columns[name] = np.split(metric.sentence_scores(statistics), bounds)
    for table in tables:
        for column, name in enumerate(table.names):
            columns.setdefault(name, []).extend(np.split(table.values[:, column], table.offsets[1:-1]))
    for kind in ("chrf", "bleu"):
        parts = [values for name, values in columns.items() if name.endswith(f"-{kind}")]
        columns[f"agreement with the systems, {kind}"] = [np.mean(group, axis=0) for group in zip(*parts, strict=True)]
    lengths = [np.array([len(text) for text in one.nbest.texts], np.float64) for one in rated]
    columns["number of characters"] = lengths
    rows = []
    for name, values in columns.items():
        if name.endswith(("-chrf", "-bleu", "-rank", "-listed", "score")):
            continue
        counts = np.array([agreement(v, one.scores) for v, one in zip(values, rated, strict=True)])
        sampled = np.random.default_rng(1).integers(0, len(counts), (RESAMPLES, len(counts)))
        sums = counts[sampled].sum(axis=1)
        low, high = np.percentile(100 * sums[:, 0] / sums[:, 1], [2.5, 97.5])
        share = 100 * counts[:, 0].sum() / counts[:, 1].sum()
        rows.append((share, (name, f"{share:.1f}", f"{low:.1f} to {high:.1f}")))
    ordered = tuple(row for _, row in sorted(rows, key=lambda row: -row[0]))
    return Table("Pairs of outputs ordered as by people", ("feature", "per cent", "95 % interval"), ordered)


if __name__ == "__main__":
    main()
