"""Tables of grammaticality: any systems on minimal pairs, and on pseudo-negative examples.

    python -m tests.experiments.acceptability_table pairs PAIRS --by field [--fit MADE] NAME=FEATURE ...
    python -m tests.experiments.acceptability_table negatives DEV TEST NAME=MODEL ...

A FEATURE is one as of `-f` (`ngram-lm,model=kn5.ngram`), whose first column is the system's ln p of a sentence; a MODEL
is a language model as of `--lm` (`ngram,model=kn5.ngram`). `text=STEP` among the options of either is a text step of its
own (`ngram-lm,model=classes.ngram,text=classes:classes.tsv`).

`pairs` (BLiMP: PAIRS is its JSON lines): accuracy of each system with its 95 % interval, by total and by group, and p of
McNemar's test against the first. With `--fit` all systems together, by weights fitted to the pairs of MADE
(`rerank negatives errors`), never to PAIRS; `--unigrams` adds ln p by unigrams and the number of words to them.

`negatives` (Pauls & Klein 2012, §5.3): DEV and TEST are pairs of `rerank negatives`. By the syntactic log-odds ratio, the
feature `slr` with each model's own unigrams: pairwise accuracy, and independent accuracy, each sentence accepted where
its SLR is above a threshold tuned on DEV; and pairwise accuracy by ln p alone.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from rerank_adapters.cli import ADAPTERS
from rerank_adapters.config import Config, plugin_options, plugin_table
from rerank_adapters.evaluation.binary import best_threshold
from rerank_adapters.evaluation.preferences import Preferences
from rerank_adapters.evaluation.wilson import wilson_interval
from rerank_adapters.formats.minimal_pairs import Pair, read_pairs
from rerank_adapters.tasks.job import Job
from rerank_adapters.tasks.minimal_pairs import chosen_columns, fit_weights, held_out_preferences, pair_table
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureTable
from rerank_plugins.plugins import load_plugins

WORDS, UNIGRAM = "words", "unigram ln p"


def first_columns(
    tables: list[dict[str, Any]], pairs: list[Pair], steps: tuple[str, ...], jobs: int, models: dict[str, Any]
) -> FeatureTable:
    """A column for each table of a feature, called as its label is: the feature's first value. Rows: good, bad, …"""
    own = {table["label"]: [table["text"]] for table in tables if "text" in table}
    features = [{**table, "text": table["label"]} if "text" in table else table for table in tables]
    config = Config(feature=features, language_model=models, text=own, jobs=jobs)
    table = pair_table(Job.create(config, load_plugins(ADAPTERS)), pairs, TextPipeline(steps))
    labels = [each["label"] for each in tables]
    first = [next(i for i, name in enumerate(table.names) if name.rpartition(".")[0] == label or name == label)
             for label in labels]  # fmt: skip
    return FeatureTable.dense(tuple(labels), table.values[:, first], table.offsets)


def feature_scores(
    named: dict[str, str], pairs: list[Pair], steps: tuple[str, ...], unigram: str, jobs: int
) -> FeatureTable:
    """A column for each system, the first of its feature, then ln p by unigrams and the number of words."""
    tables = [{**plugin_table(spec), "label": name} for name, spec in named.items()]
    tables += [{**plugin_table(unigram), "label": UNIGRAM}, {"use": "length", "label": WORDS}]
    return first_columns(tables, pairs, steps, jobs, {})


def model_scores(named: dict[str, str], pairs: list[Pair], steps: tuple[str, ...], jobs: int) -> FeatureTable:
    """For each system, a language model, its ln p of the sentences and, as column `SLR NAME`, what `slr` makes of it."""
    models, tables = {}, []
    for name, spec in named.items():
        models[name], ours = plugin_options(plugin_table(spec), "text")
        tables.append({"use": "ngram-lm", "lm": name, "label": name, **ours})
        tables.append({"use": "slr", "lm": name, "label": slr_of(name), **ours})
    return first_columns(tables, pairs, steps, jobs, models)


def slr_of(name: str) -> str:
    """The column that has the syntactic log-odds ratio by a system."""
    return f"SLR {name}"


def preferences(name: str, values: np.ndarray) -> Preferences:
    """By values of good, bad, good, …"""
    return Preferences.of_scores(name, values[::2], values[1::2])


def percent(share: float, count: int) -> str:
    """A share and its interval."""
    low, high = wilson_interval(share * count, count)
    return f"{100 * share:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def print_pairs(pairs: list[Pair], table: FeatureTable, systems: list[Preferences], by: str) -> None:
    """A row a group, a column a system."""
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
    """A row for each system."""
    print("| system | pairwise, SLR | independent, SLR | pairwise, ln p |\n| --- | ---: | ---: | ---: |")
    count = len(test.values) // 2
    good_dev, good_test = (np.arange(len(table.values)) % 2 == 0 for table in (dev, test))
    tuned, asked = ({name: table.values[:, i] for i, name in enumerate(table.names)} for table in (dev, test))
    for system in named:
        ratio = asked[slr_of(system)]
        threshold = best_threshold(tuned[slr_of(system)], good_dev)
        independent = float(np.mean((ratio > threshold) == good_test))
        by_slr, by_total = (preferences(system, values).accuracy for values in (ratio, asked[system]))
        cells = [percent(by_slr, count), percent(independent, 2 * count), percent(by_total, count)]
        print(f"| {system} | " + " | ".join(cells) + " |")


def main() -> None:
    """Score, print."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument(
        "--text", action="append", help="text step; default: penn-tokenize; `none`: leave sentences as they are"
    )
    given.add_argument("--jobs", type=int, default=1)
    kinds = given.add_subparsers(dest="kind", required=True)
    pairs = kinds.add_parser("pairs")
    pairs.add_argument("pairs", type=Path)
    pairs.add_argument("--by", default="field")
    pairs.add_argument("--fit", type=Path, help="pairs to fit weights to")
    pairs.add_argument("--unigram", default="unigram", help="feature whose first column is ln p by unigrams")
    pairs.add_argument("--unigrams", action="store_true", help="fit weights of unigram ln p and number of words too")
    negatives = kinds.add_parser("negatives")
    negatives.add_argument("dev", type=Path)
    negatives.add_argument("test", type=Path)
    pairs.add_argument("systems", nargs="+", metavar="NAME=FEATURE")
    negatives.add_argument("systems", nargs="+", metavar="NAME=MODEL")
    options = given.parse_args()
    named = dict(system.split("=", 1) for system in options.systems)
    steps = () if options.text == ["none"] else tuple(options.text or ["penn-tokenize"])
    started = time.process_time()

    def scored(path: Path) -> tuple[list[Pair], FeatureTable]:
        found = read_pairs(path)
        if options.kind == "negatives":
            return found, model_scores(named, found, steps, options.jobs)
        return found, feature_scores(named, found, steps, options.unigram, options.jobs)

    if options.kind == "negatives":
        print_negatives(named, scored(options.dev)[1], scored(options.test)[1])
    else:
        asked, table = scored(options.pairs)
        systems = [preferences(name, table.values[:, i]) for i, name in enumerate(named)]
        if options.fit:
            made = scored(options.fit)[1]
            kept = table.names if options.unigrams else tuple(named)
            made, table = (chosen_columns(each, kept) for each in (made, table))
            weights = fit_weights(made)
            systems.append(preferences("all together", table.values @ weights))
            held_out = held_out_preferences(made, 10, 1.0, seed=1)
            print(f"fitted to {len(made.values) // 2} pairs, of which 10-fold {100 * held_out.accuracy:.1f} % are right: "
                  + ", ".join(f"{name} {weight:.4g}" for name, weight in zip(table.names, weights, strict=True)) + "\n")  # fmt: skip
        print_pairs(asked, table, systems, options.by)
    print(f"\n{time.process_time() - started:.0f} s of CPU in this process")


if __name__ == "__main__":
    main()
