"""Print how well measures of single sentences agree with people, set by set (docs/models/svs.md).

The columns are Pearson's r on the sets of STS 2013 to 2015, with their mean weighted by pairs, and on the development
part of the STS benchmark and the training part of SICK where DATA has them. Nothing is learnt here.

DATA is a folder with the sets sts/2013.*.test.tsv and so on (`score<TAB>sentence<TAB>sentence`), and perhaps
eval_only/sts_benchmark/stsb-en-dev.csv and eval_only/sick/train.tsv.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, experiment, file_of, say
from docs.results.scripts.similarity_sets import HEADER, TESTS, ScoredPairs, idf_of, read_scored
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.similarity.meaning import FITTED, Parts, pair_by_pair
from rerank_plugins.similarity.measures.table import Measures
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
from rerank_plugins.svs.model import EMBEDDED, read_model
from rerank_plugins.svs.parser import parser_of_concepts
from rerank_plugins.svs.parsing import SvsParser

WORDS = ("overlap.unigram", "overlap.weighted", "tfidf.words", "tfidf.stems")
BENCHMARK, SICK = "eval_only/sts_benchmark/stsb-en-dev.csv", "eval_only/sick/train.tsv"
THRESHOLD = 1e-3  # of the parser `svs`


@experiment("meaning_table", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--concepts", type=FILE, help="A model made by `rerank train svs-concepts`.  [default: embedded]")
def main(data: Path, concepts: Path | None) -> None:
    """Score the pairs of all sets and print the table."""
    started = time.process_time()
    text = TextPipeline(("penn-tokenize",))
    sets = {name: read_scored(file_of(data, f"sts/{name}.test.tsv"), text) for name in TESTS}
    if (path := data / BENCHMARK).is_file():
        sets["benchmark"] = read_scored(path, text)
    if (path := data / SICK).is_file():
        sets["SICK"] = read_sick(path, text)
    more = [name for name in sets if name not in TESTS]
    print(
        f"| measure | {' | '.join([*HEADER[:3], *HEADER[4:], *more])} |\n|---|{'---:|' * (len(TESTS) + 1 + len(more))}"
    )
    rows: dict[str, dict[str, FloatArray]] = {}
    say("words")
    for name, pairs in sets.items():
        measures = Measures(svs=SvsParser(read_model(EMBEDDED), THRESHOLD))
        sentences = list(zip(pairs.first, pairs.second, strict=True))
        columns = dict(zip(measures.names, measures.columns(sentences, {"overlap", "tfidf", "svs"}).T, strict=True))
        for measure in (*WORDS, "svs.top", "svs.phrase"):
            rows.setdefault(f"`{measure}`", {})[name] = columns[measure]
    for row, values in rows.items():
        show(row, values, sets)
    parser = parser_of_concepts()
    for label, path_, parts in (
        ("`svs.meaning`, words and stems alone", concepts, FITTED._replace(concepts=0.0, role=0.0)),
        ("`svs.meaning`, without roles", concepts, FITTED._replace(role=0.0)),
        ("`svs.meaning`, the ten concepts of `svs`", EMBEDDED, FITTED),
        ("`svs.meaning`", concepts, FITTED),
    ):
        say(label)
        meanings = SentenceMeanings(parser, read_concepts(path_))
        show(label, {name: shared(pairs, meanings, parts, idf_of(pairs)) for name, pairs in sets.items()}, sets)
        if path_ is concepts and parts is FITTED:
            values = {name: shared(pairs, meanings, parts, None) for name, pairs in sets.items()}
            show("`svs.meaning`, rarity by information alone", values, sets)
    print(f"\n{time.process_time() - started:.0f} s of CPU time")


def shared(
    pairs: ScoredPairs, meanings: SentenceMeanings, parts: Parts, rarity: Mapping[str, float] | None
) -> FloatArray:
    """(pairs) the meaning that the sentences of each pair share."""
    return pair_by_pair(meanings.of(pairs.first), meanings.of(pairs.second), parts, rarity)


def show(label: str, values: Mapping[str, FloatArray], sets: Mapping[str, ScoredPairs]) -> None:
    """Print a row of the table."""
    found = {name: pearson(values[name], pairs.scores) for name, pairs in sets.items()}
    mean = np.average([found[name] for name in TESTS], weights=[len(sets[name].scores) for name in TESTS])
    cells = [*(found[name] for name in TESTS), mean, *(found[name] for name in sets if name not in TESTS)]
    print(f"| {label} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


def read_sick(path: Path, text: TextPipeline) -> ScoredPairs:
    """The pairs of SICK, whose lines have a fourth column, the judgement of entailment."""
    with open_text(path) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    first, second = ([s.split() for s in text.apply([row[side] for row in rows])] for side in (1, 2))
    return ScoredPairs(first, second, np.array([float(row[0]) for row in rows]))


if __name__ == "__main__":
    main()
