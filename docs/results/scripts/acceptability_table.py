"""Print tables of acceptability: systems on minimal pairs or pseudo-negative examples (docs/results/acceptability.md).

A system of `pairs` is NAME=FEATURE, with a feature as in the option `-f` (`ngram-lm,model=kn5.ngram`), whose first
column is the system's ln p of a sentence. A system of `negatives` is NAME=MODEL, with a language model as in the option
`-M` (`ngram-lm,model=kn5.ngram`). The option `text=STEP` gives either a text step of its own
(`ngram-lm,model=classes.ngram,text=classes:classes.tsv`).

`pairs FILE` reads any file that `rerank acceptability pairs` reads (for BLiMP, its JSON lines). It prints the accuracy
of each system with its 95 % interval, in total and by group, and the p-value of McNemar's test against the first
system.

`negatives FILE FILE` (Pauls & Klein 2012, §5.3) reads pairs made by `rerank negatives`, first those to tune on, then
those to test on. It prints the pairwise accuracy by the syntactic log-odds ratio (the feature `slr` with each model's
own unigrams), the independent accuracy, where a sentence is accepted if its ratio is above a threshold tuned on the
first file, and the pairwise accuracy by ln p alone.

\b
    python -m docs.results.scripts.acceptability_table pairs blimp.jsonl.xz --by field "dependency LM=dependency-lm"
    python -m docs.results.scripts.acceptability_table negatives dev.tsv test.tsv "5-gram=ngram-lm,model=kn5.ngram"
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from docs.results.scripts.experiment import experiment, named_values, say
from rerank_adapters.applications.acceptability.compare import Preferences
from rerank_adapters.applications.acceptability.measures import best_threshold
from rerank_adapters.applications.acceptability.pairs import pair_table
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.minimal_pairs import Pair, read_pairs
from rerank_adapters.evaluation.proportions import wilson_interval
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.specs import plugin_table
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureTable
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.loader import load_plugins


def first_columns(
    tables: list[dict[str, Any]], pairs: list[Pair], steps: tuple[str, ...], jobs: int, models: dict[str, Any]
) -> FeatureTable:
    """(good, bad, …) x (features): the first value of each feature, in a column named by the feature's label."""
    text_steps = {table["label"]: [table["text"]] for table in tables if "text" in table}
    features = [{**table, "text": table["label"]} if "text" in table else table for table in tables]
    config = Config(feature=features, language_model=models, text=text_steps, jobs=jobs)
    table = pair_table(Job.of(config, load_plugins(BUILTIN)).extraction(), pairs, TextPipeline(steps))
    labels = [feature_table["label"] for feature_table in tables]
    first = [next(i for i, name in enumerate(table.names) if name.rpartition(".")[0] == label or name == label)
             for label in labels]  # fmt: skip
    return FeatureTable.dense(tuple(labels), table.values[:, first], table.offsets)


def feature_scores(named: dict[str, str], pairs: list[Pair], steps: tuple[str, ...], jobs: int) -> FeatureTable:
    """The first column of each system's feature."""
    tables = [{**plugin_table(spec), "label": name} for name, spec in named.items()]
    return first_columns(tables, pairs, steps, jobs, {})


def model_scores(named: dict[str, str], pairs: list[Pair], steps: tuple[str, ...], jobs: int) -> FeatureTable:
    """The ln p of the sentences by each language model and, in columns `SLR-NAME`, their syntactic log-odds ratios."""
    models, tables = {}, []
    for name, spec in named.items():
        models[name] = plugin_table(spec)
        text_option = {"text": models[name].pop("text")} if "text" in models[name] else {}
        tables.append({**models[name], "label": name, **text_option})
        tables.append({"use": "slr", "lm": name, "label": slr_of(name), **text_option})
    return first_columns(tables, pairs, steps, jobs, models)


def slr_of(name: str) -> str:
    """The column of the syntactic log-odds ratio by a system."""
    return f"SLR-{name}"


def preferences(name: str, values: FloatArray) -> Preferences:
    """The preferences by the values of good, bad, good, … sentences."""
    return Preferences.of_scores(name, values[::2], values[1::2])


def percent(share: float, count: int) -> str:
    """A share and its 95 % interval, in per cent."""
    low, high = wilson_interval(share * count, count)
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def print_pairs(pairs: list[Pair], table: FeatureTable, by: str) -> None:
    """Print one row per group and one column per system."""
    systems = [preferences(name, table.values[:, i]) for i, name in enumerate(table.names)]
    print(f"| {by} | pairs | " + " | ".join(system.system for system in systems) + " |")
    print("| --- |" + " ---: |" * (len(systems) + 1))
    group = np.array([pair.groups.get(by, "") for pair in pairs], object)
    for name in dict.fromkeys(group.tolist()):
        cells = [f"{100 * system.among(group == name).accuracy:.1f}" for system in systems]
        print(f"| {name} | {np.sum(group == name)} | " + " | ".join(cells) + " |")
    cells = [percent(system.accuracy, len(pairs)) for system in systems]
    print(f"| all | {len(pairs)} | " + " | ".join(cells) + " |")
    ps = ["", *(f"{system.against(systems[0]).p_value:.2g}" for system in systems[1:])]
    print("| p, against the first | | " + " | ".join(ps) + " |")


def print_negatives(named: dict[str, str], dev: FeatureTable, test: FeatureTable) -> None:
    """Print one row per system."""
    print("| system | pairwise, SLR | independent, SLR | pairwise, ln p |\n| --- | ---: | ---: | ---: |")
    count = len(test.values) // 2
    good_dev, good_test = (np.arange(len(table.values)) % 2 == 0 for table in (dev, test))
    tuning, testing = ({name: table.values[:, i] for i, name in enumerate(table.names)} for table in (dev, test))
    for system in named:
        ratio = testing[slr_of(system)]
        threshold = best_threshold(tuning[slr_of(system)], good_dev)
        independent = float(np.mean((ratio > threshold) == good_test))
        by_slr, by_total = (preferences(system, values).accuracy for values in (ratio, testing[system]))
        cells = [percent(by_slr, count), percent(independent, 2 * count), percent(by_total, count)]
        print(f"| {system} | " + " | ".join(cells) + " |")


@experiment("acceptability_table", __doc__)
@click.argument("kind", type=click.Choice(["pairs", "negatives"]))
@click.argument("arguments", nargs=-1, required=True, metavar="FILE... NAME=FEATURE...")
@click.option("--by", default="field", help="The column by which the rows of `pairs` are grouped.")
@click.option(
    "--text",
    multiple=True,
    help="Apply this text step (repeatable); `none` leaves sentences as they are.  [default: penn-tokenize]",
)
@click.option("--jobs", default=1, help="The number of processes that extract features.")
def main(kind: str, arguments: tuple[str, ...], by: str, text: tuple[str, ...], jobs: int) -> None:
    """Score the sentences and print the table."""
    files = 1 if kind == "pairs" else 2
    paths, systems = [Path(path) for path in arguments[:files]], arguments[files:]
    if missing := [path for path in paths if not path.is_file()]:
        raise click.UsageError(f"{missing[0]}: no such file, expected {files} of pairs before the systems")
    if not systems:
        raise click.UsageError("no system, expected NAME=FEATURE after the files")
    named = named_values(systems, "NAME=FEATURE")
    steps = () if text == ("none",) else text or ("penn-tokenize",)
    started = time.process_time()

    scores = feature_scores if kind == "pairs" else model_scores

    def scored(path: Path) -> tuple[list[Pair], FeatureTable]:
        say(f"scoring {path}")
        pairs = read_pairs(path)
        return pairs, scores(named, pairs, steps, jobs)

    if kind == "negatives":
        print_negatives(named, scored(paths[0])[1], scored(paths[1])[1])
    else:
        print_pairs(*scored(paths[0]), by)
    print(f"\n{time.process_time() - started:.0f} s of CPU in this process")


if __name__ == "__main__":
    main()
