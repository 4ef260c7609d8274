"""Print what added features contribute on lists that were not tuned on (docs/results/reranking.md).

The base system has the decoder's features, if any, and those of --base. Each system adds FEATURE (`name,option=value`;
several are joined by `+`); `NAME=-COLUMN+FEATURE` leaves out a column of the decoder, so that a feature can replace it.
All systems are tuned from uniform weights. `held out` is the score of 5-fold cross-validation on the tuning set, with
mean and standard deviation over 5 seeds; settings are chosen by it. On the test set the table has the score, the
difference to the base system with its 95 % interval, and the p-values of the paired bootstrap and of approximate
randomisation. `changed` counts the 1-bests that differ from the base system's.

LISTS is a folder of translations with tune.nbest.xz and test.nbest.xz (Moses), and .src and .ref of both (BLEU with
tokenize=none, tuned by MIRA), or a file of HyPoradise's recognition hypotheses, *.jsonl, whose utterances go to the
tuning set and the test set in alternating groups of 25 (WER, tuned by expected risk).

\b
    python -m docs.results.scripts.added_features_table LISTS dependency-lm=dependency-lm "hhmm-lm=hhmm-lm,beam=50"
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import experiment, file_of, named_values, say
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation import evaluate
from rerank_adapters.formats.decoder_features import decoder_table
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
from rerank_adapters.tuning.cross_validation import cross_validate
from rerank_adapters.tuning.problem import chosen_rows, problem_of
from rerank_plugins import FeatureTable
from rerank_plugins.core.loader import load_plugins

SEEDS = (1, 2, 3, 4, 5)
TURN = 25  # utterances


class Kind(NamedTuple):
    """The settings for a kind of lists: the format, the metric, the tuner and the features of the base system."""

    nbest: str
    metric: str
    tuner: str
    base: tuple[str, ...]


TRANSLATION = Kind("moses", "bleu,tokenize=none", "mira", ("length", "consensus"))
SPEECH = Kind("hyporadise", "wer", "expected-risk", ("reciprocal-rank", "length"))


def translations(folder: Path, name: str, job: Job) -> Dataset:
    """A set of translations with its references."""
    files = [file_of(folder, f"{name}.{ending}") for ending in ("nbest.xz", "src", "ref")]
    nbests = read_nbest([files[0]], job.format, Sources(files[1]).of)
    references = for_segments([read_texts(files[2], "reference")], [n.segment_id for n in nbests])
    return Dataset(name, nbests, references)


def recognitions(file: Path, name: str, job: Job) -> Dataset:
    """A set of recognition hypotheses with the transcripts."""
    nbests = read_nbest([file], job.format)
    transcripts = [json.loads(line)["ref"] for line in file.read_text("utf-8").splitlines()]
    turn = ("tune", "test").index(name)
    part = [place for place in range(len(nbests)) if place // TURN % 2 == turn]
    return Dataset(name, [nbests[place] for place in part], [(transcripts[place],) for place in part])


class Lists:
    """A set of lists with its references and the columns of the features of all systems, each extracted once."""

    def __init__(self, data: Dataset, job: Job) -> None:
        self.data, self.decoder = data, decoder_table(data.lists)
        self.all = job.extraction().table(data.lists, self.decoder)

    def table(self, labels: set[str], without: set[str]) -> FeatureTable:
        """The decoder's features except those in `without`, and the features with these labels."""
        added = [name.partition(".")[0] in labels for name in self.all.names[len(self.decoder.names) :]]
        kept = [name not in without for name in self.decoder.names] + added
        names = tuple(name for name, keep in zip(self.all.names, kept, strict=True) if keep)
        return FeatureTable.dense(names, self.all.values[:, np.array(kept)], self.all.offsets)

    def texts(self, rows: np.ndarray) -> list[str]:
        """The hypotheses in these rows, one for each list."""
        positions = rows - self.decoder.offsets[:-1]
        return [nbest[position].text for nbest, position in zip(self.data.lists, positions, strict=True)]


@experiment("added_features_table", __doc__)
@click.argument("lists", type=click.Path(exists=True, path_type=Path))
@click.argument("added", nargs=-1, required=True, metavar="NAME=FEATURE...")
@click.option("--base", multiple=True, metavar="FEATURE",
              help="Add this feature to the base system (repeatable).  [default: length and consensus, or reciprocal-rank]")  # fmt: skip
@click.option("--no-base", is_flag=True, help="Give the base system only the decoder's features.")
@click.option("--changes", default=0, help="Show this many of the 1-bests that a system changes.")
def main(lists: Path, added: tuple[str, ...], base: tuple[str, ...], no_base: bool, changes: int) -> None:
    """Extract the features, tune and compare all systems, and print the table."""
    speech = lists.suffix == ".jsonl"
    kind, read = (SPEECH, recognitions) if speech else (TRANSLATION, translations)
    base = () if no_base else base or kind.base
    named = named_values(added, "NAME=FEATURE")
    systems: dict[str, list[str]] = {"base": []} | {name: spec.split("+") for name, spec in named.items()}
    specs = [spec for parts in ([*base], *systems.values()) for spec in parts if not spec.startswith("-")]
    labels = {spec: f"f{number}" for number, spec in enumerate(dict.fromkeys(specs))}
    features = [{**plugin_table(spec), "label": label} for spec, label in labels.items()]
    config = Config(
        nbest={"use": kind.nbest}, metric=[plugin_table(kind.metric)], feature=features, tuner={"use": kind.tuner}
    )
    job = Job.of(config, load_plugins(BUILTIN))
    metric = job.measures[0].metric
    say(f"extracting {', '.join(specs)}")
    sets = {part: Lists(read(lists, part, job), job) for part in ("tune", "test")}
    outputs, held_out = {}, {}
    for name, parts in systems.items():
        say(f"tuning {name}")
        wanted = {labels[spec] for spec in [*base, *parts] if spec in labels}
        without = {spec[1:] for spec in parts if spec.startswith("-")}
        tables = {part: part_lists.table(wanted, without) for part, part_lists in sets.items()}
        problem = problem_of(
            sets["tune"].data.lists, sets["tune"].data.references, tables["tune"], job.measures[0], job.config.tuning
        )
        start = start_of(job, sets["tune"].data.lists, tables["tune"])
        held_out[name] = cross_validate(problem, {name: job.tuner}, start, 5, SEEDS).rows[0]
        tuned = job.tuner.tune(problem, start, np.random.default_rng(1))
        test = problem_of(
            sets["test"].data.lists, sets["test"].data.references, tables["test"], job.measures[0], job.config.tuning
        )
        outputs[name] = sets["test"].texts(chosen_rows(test, tuned))
    result = evaluate(outputs, sets["test"].data.references, {kind.metric: metric})
    rows = []
    for score in result.metrics[0].systems:
        row = held_out[score.system]
        line = [score.system, f"{row.mean:.2f} ± {row.spread:.2f}", f"{score.score:.2f}", "", "", "", ""]
        against = score.comparison
        if against is not None:
            low, high = against.interval or (np.nan, np.nan)
            changed = sum(a != b for a, b in zip(outputs[score.system], outputs["base"], strict=True))
            line[3:] = [f"{against.difference:+.2f}", f"{low:+.2f} to {high:+.2f}"]
            line += [f"{against.bootstrap_p:.3f}, {against.randomisation_p:.3f}", str(changed)]
        rows.append(tuple(line))
    header = ("features", "held out", "test", "difference", "95 % interval", "p", "changed")
    print(markdown_table(Table(kind.metric, header, tuple(rows))))
    for name in list(systems)[1:] if changes else ():
        pairs = zip(outputs["base"], outputs[name], sets["test"].data.references, strict=True)
        different = [(before, after, right[0]) for before, after, right in pairs if before != after]
        for before, after, right in different[:changes]:
            print(f"\nbase       {before}\n{name:<10} {after}\nreference  {right}")


if __name__ == "__main__":
    main()
