"""Print how well shared meaning agrees with people on the training sets, by what its parts count (docs/models/svs.md).

The parts are the stem, concepts and role of similarity/meaning.py. The value of a row is the mean, over the sets, of
Pearson's r; the rows with the highest values come first.

DATA is a folder with the training sets sts/2012.*.tsv (`score<TAB>sentence<TAB>sentence`).
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, Listed, counted, experiment, file_of, say
from docs.results.scripts.similarity_sets import SOURCES, idf_of, read_scored
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.text import TextPipeline
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.similarity.meaning import Meaning, Parts, pair_by_pair
from rerank_plugins.similarity.sentence_meanings import SentenceMeanings, read_concepts
from rerank_plugins.svs.parser import parser_of_concepts

Compared = tuple[list[Meaning], list[Meaning], FloatArray, dict[str, float]]


@experiment("meaning_weights", __doc__)
@click.argument("data", type=FOLDER)
@click.option("--concepts", type=FILE, help="A model made by `rerank train svs-concepts`.  [default: embedded]")
@click.option("--stem", type=Listed(float), default="0.7,0.8,0.9,1", help="Values of words of one stem.")
@click.option("--shared", type=Listed(float), default="0,0.5,0.75,1,1.25,1.5", help="Factors of shared concepts.")
@click.option("--role", type=Listed(float), default="0,0.1,0.2,0.3,0.4,0.5", help="What a different role takes away.")
@click.option("--top", default=10, help="Number of rows.")
def main(
    data: Path, concepts: Path | None, stem: tuple[float, ...], shared: tuple[float, ...], role: tuple[float, ...],
    top: int,
) -> None:  # fmt: skip
    """Score the pairs with all combinations, and print the best."""
    files = {name: file_of(data, f"sts/{name}.tsv") for name in SOURCES}
    sentences = SentenceMeanings(parser_of_concepts(concepts), read_concepts(concepts))
    say("parsing the pairs")
    sets = [compared(path, sentences) for path in files.values()]
    rows = []
    for parts in counted([Parts(*values) for values in product(stem, shared, role)], "combinations"):
        found = [pearson(pair_by_pair(a, b, parts, idf), scores) for a, b, scores, idf in sets]
        rows.append((float(np.mean(found)), parts, found))
    rows.sort(key=lambda row: -row[0])
    print(f"| stem | concepts | role | {' | '.join(files)} | mean |\n|---|---|---|{'---:|' * (len(files) + 1)}")
    for mean, parts, found in rows[:top]:
        cells = " | ".join(f"{r:.3f}" for r in (*found, mean))
        print(f"| {parts.stem:g} | {parts.concepts:g} | {parts.role:g} | {cells} |")


def compared(path: Path, sentences: SentenceMeanings) -> Compared:
    """The meanings of the pairs of a file, the scores by people, and the idf of words among the pairs."""
    pairs = read_scored(path, TextPipeline(("penn-tokenize",)))
    return sentences.of(pairs.first), sentences.of(pairs.second), pairs.scores, idf_of(pairs)


if __name__ == "__main__":
    main()
