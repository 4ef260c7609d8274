"""Print what reranking gains at home and on other lists, without and with a margin (docs/results/speech.md).

A SET is NAME=LISTS, lists that hold their references, or NAME=LISTS,REFERENCES,SOURCE. Weights and margin are tuned on
each set, for the first metric, and applied to every other set whose decoder has the same features; at home they are
tuned on the lists of even number and choose in those of odd number, and the reverse, and the choices are scored
together. All margins of a row belong to the same weights: none (0), the best one on held-out lists, and the largest one
within a standard error of that, which is infinite where no gain is certain (`margin = "tuned"`).

`held out` is the gain on held-out tuning lists that `rerank tune` prints, without a margin. The other columns have the
gain over the 1-bests with its 95 % interval (above 0 is better, for error rates too) and the proportion of the 1-bests
that are left. `unlike` says whether `rerank apply` would warn of these lists.

\b
    python -m docs.results.scripts.margin_table cv=commonvoice_test.jsonl clean=librispeech_test_clean.jsonl \\
        -m wer -f length -f consensus
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import experiment, named_values
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.unlike import ListFacts, differences
from rerank_adapters.evaluation.baselines import FIRST
from rerank_adapters.evaluation.comparisons import Resampling, paired_gains
from rerank_adapters.features.processes import Processes
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_adapters.run.learn import start_of
from rerank_adapters.texts.pairing import for_segments
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.sources import Sources
from rerank_adapters.tuners.margin import best_margin, leads_of
from rerank_adapters.tuning.held_out import HeldOut, gain_over, held_out, raw_margin, usual_folds
from rerank_adapters.tuning.problem import decision_totals, problem_of, run_tuner, take_segments
from rerank_plugins import FloatArray, TuningData, TuningResult
from rerank_plugins.core.arrays import LongArray
from rerank_plugins.core.loader import load_plugins

MARGINS = "no margin", "best margin", "tuned margin"


class Lists:
    """The lists of a set with their features and statistics."""

    def __init__(self, job: Job, files: Sequence[str]) -> None:
        lists, references, source = (*files, *([files[0], None] if len(files) == 1 else [None]))[:3]
        nbests = read_nbest([Path(str(lists))], job.format, Sources(source).of if source else None)
        self.job = job
        of_segments = for_segments(
            [read_texts(Path(str(references)), "reference")], [nbest.segment_id for nbest in nbests]
        )
        self.data = Dataset(Path(str(lists)).stem, nbests, of_segments)
        self.table = self.job.extraction().table(nbests, self.job.extraction().decoder_table(nbests))

    @cached_property
    def problem(self) -> TuningData:
        """The data of a tuner."""
        return problem_of(
            self.data.lists, self.data.references, self.table, self.job.measures[0], self.job.config.tuning
        )

    def facts(self, segments: LongArray) -> ListFacts:
        """What the lists of these segments are like."""
        return ListFacts.of([self.data.lists[s] for s in segments.tolist()], self.table.take_segments(segments)[0])


@dataclass(frozen=True)
class Tuned:
    """Weights tuned on some segments of a set, with leads on held-out lists."""

    problem: TuningData
    result: TuningResult
    held: HeldOut
    seed: int

    @classmethod
    def on(cls, lists: Lists, segments: LongArray) -> Tuned:
        """Tune on these segments."""
        problem, job = take_segments(lists.problem, segments), lists.job
        start, tuner, seed = start_of(job, lists.data.lists, lists.table), job.tuner, job.config.seed
        held = held_out(problem, tuner, start, usual_folds(problem, tuner), seed, Processes(job.config.jobs))
        return cls(problem, run_tuner(problem, tuner, start, seed), held, seed)

    @cached_property
    def margins(self) -> list[float]:
        """The margins of `MARGINS`, in the unit of the totals."""
        held, metric = self.held, self.problem.metric
        best = best_margin(held.leads, held.first, held.leading, metric, errors=0.0)
        margins = 0.0, best, gain_over({FIRST: held.first}, held, metric, "tuned", self.seed).margin
        return [raw_margin(self.problem, self.result, margin) for margin in margins]

    def chosen(self, data: TuningData, margin: float) -> tuple[FloatArray, LongArray]:
        """(segments, S) the statistics of the choices with a margin, and (segments) whether the 1-best is left."""
        first = data.table.offsets[:-1]
        rows, leads = leads_of(decision_totals(data, replace(self.result, margin=0.0)), data.table.offsets)
        chosen = np.where(leads > margin, rows, first)
        return data.statistics[chosen], np.asarray(chosen != first)


def gain_cell(data: TuningData, chosen: FloatArray, left: LongArray) -> str:
    """As `+0.84 [+0.12, +1.50], 31 %`."""
    first = data.statistics[data.table.offsets[:-1]]
    (gain,) = paired_gains([chosen, first], [(0, 1)], data.metric, Resampling(randomisation=0))
    assert gain.interval is not None
    return f"{gain.value + 0.0:+.2f} {gain.interval.written}, {100 * np.mean(left):.0f} %"


def at_home(lists: Lists) -> list[str]:
    """The cells of a set whose halves are tuned on and chosen from in turn."""
    everything = np.arange(lists.table.segments)
    halves = everything[::2], everything[1::2]
    tuned = [Tuned.on(lists, half) for half in halves]
    cells = []
    for number in range(len(MARGINS)):
        chosen, left = np.empty_like(lists.problem.statistics[: len(everything)]), np.empty(len(everything), np.int64)
        for weights, tested in zip(tuned, halves[::-1], strict=True):
            chosen[tested], left[tested] = weights.chosen(take_segments(lists.problem, tested), weights.margins[number])
        cells.append(gain_cell(lists.problem, chosen, left))
    return cells


def rows_of(sets: dict[str, Lists]) -> Iterator[tuple[str, ...]]:
    """A row for each set and each set that its weights can be applied to."""
    for name, lists in sets.items():
        everything = np.arange(lists.table.segments)
        tuned = Tuned.on(lists, everything)
        held = gain_over({FIRST: tuned.held.first}, tuned.held, lists.problem.metric, 0.0, tuned.seed)
        gain = f"{held.gain:+.2f} {held.interval.written}"
        yield name, "itself, by halves", f"{held.first:.2f}", gain, *at_home(lists), "no"
        recorded = lists.facts(everything).for_provenance(None)
        for other_name, other in sets.items():
            if other is lists or other.table.all_names != lists.table.all_names:
                continue
            first = float(other.problem.metric.score(other.problem.statistics[other.table.offsets[:-1]].sum(axis=0)))
            cells = [gain_cell(other.problem, *tuned.chosen(other.problem, margin)) for margin in tuned.margins]
            unlike = "yes" if differences(recorded, other.facts(np.arange(other.table.segments))) else "no"
            yield name, other_name, f"{first:.2f}", gain, *cells, unlike


@experiment("margin_table", __doc__)
@click.argument("sets", metavar="SET...", nargs=-1, required=True)
@click.option("-m", "--metric", default="bleu", help="The metric.")
@click.option("-f", "--feature", "features", multiple=True, help="A feature beside the decoder's. Repeatable.")
@click.option("-t", "--tuner", default="mira", help="The tuner.")
def main(sets: tuple[str, ...], metric: str, features: tuple[str, ...], tuner: str) -> None:
    """Print the table."""
    of_features = [plugin_table(feature) for feature in features]
    config = Config(feature=of_features, metric=[plugin_table(metric)], tuner=plugin_table(tuner))
    job = Job.of(config, load_plugins(BUILTIN))
    named = named_values(sets, "SET, as NAME=LISTS")
    read = {name: Lists(job, files.split(",")) for name, files in named.items()}
    header = ("tuned on", "applied to", "1-best", "held out", *MARGINS, "unlike")
    title = f"{job.measures[0].name}, {tuner}: gain over the 1-bests"
    print(markdown_table(Table(title, header, tuple(rows_of(read)))))


if __name__ == "__main__":
    main()
