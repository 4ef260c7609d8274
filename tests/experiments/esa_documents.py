"""Print how similar explicit semantic analysis finds sentences, by the size of a document (docs/results/similarity.md).

Pearson's r of the three measures with people's scores, on two sets of STS 2012, for indexes of running text of which so
many sentences are a document.

DATA is a folder with sts/2012.OnWN.test.tsv and sts/2012.SMTeuroparl.train.tsv (`score<TAB>sentence<TAB>sentence`).
TEXTS are tokenised, a sentence a line.

\b
    python -m tests.experiments.esa_documents DATA novels.txt.xz textbooks.txt.xz presidential.txt.xz
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.formats.compressed import open_text
from rerank_adapters.text import TextPipeline
from rerank_plugins.models.esa.documents import Document, documents
from rerank_plugins.models.esa.training import Settings, train
from rerank_plugins.models.similarity.measures import Measures
from tests.experiments.experiment import FILE, FOLDER, Listed, experiment, file_of, say
from tests.experiments.random_indexing_weights import SETS
from tests.experiments.similarity_sets import read_scored

MEASURES = ("cosine", "cosine_idf", "aligned")


def pieces(texts: tuple[Path, ...], size: int) -> Iterator[Document]:
    """The files in documents of so many lines."""
    for path in texts:
        with open_text(path) as lines:
            yield from documents(path.name, lines, str(size))


@experiment("esa_documents", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--sizes", type=Listed(int), default="5,10,20,50,100", help="Sentences a document.")
@click.option("--shortest", default=Settings.shortest, help="Documents of fewer words are left out.")
@click.option("--min-count", default=Settings.min_count, help="Rarer words are unknown.")
def main(data: Path, texts: tuple[Path, ...], sizes: tuple[int, ...], shortest: int, min_count: int) -> None:
    """Index, compare, print."""
    text = TextPipeline(("penn-tokenize",))
    sets = [read_scored(file_of(data, f"sts/{name}.tsv"), text) for name in SETS.values()]
    header = [f"`{measure}` {name}" for measure in MEASURES for name in SETS]
    print(f"| sentences a document | {' | '.join(header)} |\n|" + " ---: |" * (1 + len(header)))
    for size in sizes:
        say(f"indexing documents of {size} sentences")
        measures = Measures(esa=train(pieces(texts, size), Settings(shortest=shortest, min_count=min_count)))
        columns = [measures.columns(list(zip(each.first, each.second, strict=True)), {"esa"}) for each in sets]
        cells = []
        for measure in MEASURES:
            place = measures.names.index(f"esa.{measure}")
            cells += [f"{pearson(found[:, place], each.scores):.3f}" for found, each in zip(columns, sets, strict=True)]
        print(f"| {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
