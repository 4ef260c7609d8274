"""Print the effect of weights in random indexing (docs/results/similarity.md).

The cells are Pearson's r of the plain cosine with human scores of similarity, on the two sets of STS 2012 that were
used to choose the defaults, for vectors trained with and without weights of contexts and for sentences with and without
weights of words.

DATA is a folder with sts/2012.OnWN.test.tsv and sts/2012.SMTeuroparl.train.tsv (`score<TAB>sentence<TAB>sentence`).
TEXTS are tokenised, with one sentence per line.

\b
    python -m docs.results.scripts.random_indexing_weights DATA novels.txt.xz textbooks.txt.xz presidential.txt.xz
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, experiment, file_of, say
from docs.results.scripts.similarity_sets import ScoredPairs, read_scored
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.text import TextPipeline
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.similarity.random_indexing import RandomIndexModel, Weighting
from rerank_plugins.similarity.random_indexing_training import Settings, train

SETS = {"OnWN": "2012.OnWN.test", "SMTeuroparl (train)": "2012.SMTeuroparl.train"}
MODELS = {
    "none (paper)": Settings(("document", "window", "positional"), context_weight="none"),
    "sif": Settings(("document", "window", "directional", "positional")),
    "sif, centred": Settings(("document", "window"), centre=True),
}
SENTENCES: dict[str, tuple[Weighting, ...]] = {
    "none (paper)": ("none", "idf"),
    "sif": ("none", "idf", "sif"),
    "sif, centred": ("idf",),
}
BY_DOCUMENT_ALONE = {("none (paper)", "idf"), ("sif", "none"), ("sif", "sif")}


def vectors_of(texts: tuple[Path, ...], settings: Settings) -> RandomIndexModel:
    """A model trained on the lines of all files."""
    lines: list[str] = []
    for path in texts:
        with open_text(path) as stream:
            lines += stream
    return train([("texts", lines)], settings)


def correlation(model: RandomIndexModel, space: str, weighting: Weighting, pairs: ScoredPairs) -> float:
    """Pearson's r of the cosines of the pairs with their scores."""
    first, second = (model.sentence_vectors(side, space, weighting) for side in (pairs.first, pairs.second))
    return pearson(np.sum(first * second, axis=1), pairs.scores)


@experiment("random_indexing_weights", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--min-count", default=5, help="Train no vectors for rarer words.")
def main(data: Path, texts: tuple[Path, ...], min_count: int) -> None:
    """Train the models, compute the correlations and print the table."""
    text = TextPipeline(("penn-tokenize",))
    sets = [read_scored(file_of(data, f"sts/{name}.tsv"), text) for name in SETS.values()]
    print(
        f"| context weight | sentence weight | space | {' | '.join(SETS)} |\n| --- | --- | --- |"
        + " ---: |" * len(sets)
    )
    for context, settings in MODELS.items():
        say(f"training with context weight {context}")
        model = vectors_of(texts, Settings(**{**vars(settings), "min_count": min_count}))
        for weighting in SENTENCES[context]:
            spaces = ("document",) if (context, weighting) in BY_DOCUMENT_ALONE else settings.spaces
            for space in spaces:
                cells = [f"{correlation(model, space, weighting, pairs):.3f}" for pairs in sets]
                print(f"| {context} | {weighting} | {space} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
