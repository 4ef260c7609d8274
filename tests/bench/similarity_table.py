"""Textual similarity on the STS sets: systems, families of measures, what was selected.

    python -m tests.bench.similarity_table DATA [--vectors MODEL] [--esa MODEL] [--svs MODEL] [--wordnet FOLDER]

DATA is a folder with `sts/*.tsv` (and, for the second table, `eval_only/sts_benchmark/*.csv`); the options are those of
`rerank similarity`. Trained on the files of 2012, tested on those of 2013 to 2015. For the second table the benchmark's
pairs are added, less every pair with a sentence that stands in a test file.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from rerank_adapters.evaluation.correlation import pearson
from rerank_adapters.formats.sentence_pairs import SentencePairs, read_sentence_pairs
from rerank_adapters.tasks.similarity import SimilaritySettings, Training, family_of, fit, measure
from rerank_adapters.tasks.similarity_data import measures_of
from rerank_adapters.tasks.similarity_selection import regress
from rerank_adapters.text import TextPipeline

TESTS = ("2013.headlines", "2013.OnWN", "2013.FNWN", "2014.images", "2015.headlines")
SOURCES = {"2012.SMTeuroparl.train": "europarl", "2012.SMTeuroparl.test": "europarl", "2012.OnWN.test": "onwn"}
RUNS = {
    "r4, one for all": ("one", ()),
    "r4 less shape": ("one", ("shape",)),
    "r1, mixed": ("mixed", ()),
    "r2, best source": ("best", ()),
    "r3, mixed, less overlap": ("mixed", ("overlap",)),
}
ALONE = (
    "tfidf.stems",
    "tfidf.characters_3",
    "overlap.content_unigram",
    "vectors.document_idf",
    "vectors.document_aligned",
    "esa.cosine",
    "esa.aligned",
    "wordnet.path",
    "wordnet.lin",
    "svs.top",
    "svs.phrase",
)
OWN = ("vectors", "entities", "svs")  # the paper's additions to the measures of others
PENALTY = SimilaritySettings.penalty
PAPER = ("r4 of the paper", (0.7275, 0.7618, 0.4359))


def normal(sentence: str) -> str:
    return "".join(c for c in sentence.lower() if c.isalnum())


def main() -> None:
    started = time.process_time()
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("data", type=Path)
    for name in ("vectors", "esa", "svs", "wordnet"):
        given.add_argument(f"--{name}", type=Path)
    options = vars(given.parse_args())
    data = options.pop("data")
    measures, text = measures_of(**options), TextPipeline(("penn-tokenize",))
    tests = {name: read_sentence_pairs(data / "sts" / f"{name}.test.tsv") for name in TESTS}
    values = {name: measure(found, measures, text) for name, found in tests.items()}
    blocks = [(read_sentence_pairs(data / "sts" / f"{name}.tsv"), source) for name, source in SOURCES.items()]
    header = ["headlines 13", "OnWN 13", "FNWN 13", "mean 13", "images 14", "headlines 15", "mean of all"]

    def row(label: str, scores: dict[str, np.ndarray]) -> None:
        found = [pearson(scores[name], tests[name].scores) for name in TESTS]
        sizes = [len(tests[name].pairs) for name in TESTS]
        means = np.average(found[:3], weights=sizes[:3]), np.average(found, weights=sizes)
        cells = [*found[:3], means[0], *found[3:], means[1]]
        print(f"| {label} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")

    def head(title: str) -> None:
        print(f"\n{title}\n\n| system | {' | '.join(header)} |\n| --- |" + " ---: |" * len(header))

    def table(title: str, parts: list[tuple[SentencePairs, str]]) -> None:
        names = list(dict.fromkeys(source for _, source in parts))
        training = Training(
            measures.names,
            np.concatenate([measure(found, measures, text) for found, _ in parts]),
            np.concatenate([found.scores for found, _ in parts]),
            np.concatenate([np.full(len(found.pairs), names.index(source)) for found, source in parts]),
        )
        head(f"{title}: {len(training.scores)} pairs of {len(names)} sources")
        chosen = {}
        for label, (mode, without) in RUNS.items():
            part = training.without(without)
            model = fit(part, names, SimilaritySettings(mode, without))
            at = [measures.names.index(name) for name in part.names]
            row(label, {name: model.scores(values[name][:, at]) for name in TESTS})
            chosen[label] = model
        for family in dict.fromkeys(map(family_of, measures.names)):
            part = training.without([family])
            model = fit(part, names, SimilaritySettings("one"))
            at = [measures.names.index(name) for name in part.names]
            row(f"one for all, less {family}", {name: model.scores(values[name][:, at]) for name in TESTS})
        one_by_one(f"{title}: measures one by one", training)
        for label in ("r4, one for all", "r1, mixed"):
            for source, regression in chosen[label].regressions.items():
                print(f"\n{label}, {source}: {', '.join(regression.columns)}")

    def one_by_one(title: str, training: Training) -> None:
        """Table 4 of the paper: its own measures, one by one, beside those that are selected without them."""
        own = [family for family in OWN if family in measures.families]
        base = fit(training.without(own), ["all"], SimilaritySettings("one")).regressions["all"].columns
        head(title)
        for extra in (None, *(name for name in training.names if family_of(name) in own)):
            at = [training.names.index(name) for name in (*base, *([extra] if extra else []))]
            columns = [training.names[i] for i in at]
            regression = regress(training.values[:, at], training.scores, training.source, columns, PENALTY)
            row(
                f"`{extra}`" if extra else f"{len(base)} selected measures without",
                {name: regression.scores(values[name], measures.names) for name in TESTS},
            )

    head("A measure on its own, nothing learnt")
    for name in (name for name in ALONE if name in measures.names):
        row(f"`{name}`", {test: values[test][:, measures.names.index(name)] for test in TESTS})
    print(f"| {PAPER[0]} | " + " | ".join(f"{value:.3f}" for value in PAPER[1]) + " | 0.704 | | | |")
    table("Trained on 2012", blocks)
    more = sorted((data / "eval_only" / "sts_benchmark").glob("*.csv"))
    if more:
        seen = {normal(sentence) for found in tests.values() for pair in found.pairs for sentence in pair}
        dropped = 0
        added = []
        for path in more:
            found = read_sentence_pairs(path)
            keep = [i for i, (a, b) in enumerate(found.pairs) if normal(a) not in seen and normal(b) not in seen]
            dropped += len(found.pairs) - len(keep)
            added.append(
                (replace(found, pairs=tuple(found.pairs[i] for i in keep), scores=found.scores[keep]), "benchmark")
            )
        table(
            f"Trained on 2012 and the STS benchmark ({dropped} pairs dropped whose sentences stand in a test file)",
            blocks + added,
        )
    print(f"\n{time.process_time() - started:.0f} s of CPU time")


if __name__ == "__main__":
    main()
