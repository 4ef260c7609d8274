"""Print the quality of similarities by explicit semantic analysis, by the size of a document (docs/results/similarity.md).

The cells are Pearson's r of the three measures with human scores, on two sets of STS 2012. The index is built from
running text, in which a fixed number of sentences makes a document.

DATA is a folder with sts/2012.OnWN.test.tsv and sts/2012.SMTeuroparl.train.tsv (`score<TAB>sentence<TAB>sentence`).
TEXTS are tokenised, with one sentence per line.

\b
    python -m docs.results.scripts.esa_documents DATA novels.txt.xz textbooks.txt.xz presidential.txt.xz
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from docs.results.scripts.experiment import FILE, FOLDER, Listed, experiment, file_of, say
from docs.results.scripts.random_indexing_weights import SETS
from docs.results.scripts.similarity_sets import read_scored
from rerank_adapters.applications.similarity.correlation import pearson
from rerank_adapters.text import TextPipeline
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.similarity.esa_training import Document, Settings, documents, train
from rerank_plugins.similarity.measures.table import Measures

MEASURES = ("cosine", "cosine_idf", "aligned")


def pieces(texts: tuple[Path, ...], size: int) -> Iterator[Document]:
    """Yield the files as documents of `size` lines."""
    for path in texts:
        with open_text(path) as lines:
            yield from documents(path.name, lines, str(size))


@experiment("esa_documents", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("texts", type=FILE, nargs=-1, required=True)
@click.option("--sizes", type=Listed(int), default="5,10,20,50,100", help="Sentences per document.")
@click.option("--shortest", default=Settings.shortest, help="Leave out documents of fewer words.")
@click.option("--min-count", default=Settings.min_count, help="Treat rarer words as unknown.")
def main(data: Path, texts: tuple[Path, ...], sizes: tuple[int, ...], shortest: int, min_count: int) -> None:
    """Build the indexes, compute the correlations and print the table."""
    text = TextPipeline(("penn-tokenize",))
    sets = [read_scored(file_of(data, f"sts/{name}.tsv"), text) for name in SETS.values()]
    header = [f"`{measure}` {name}" for measure in MEASURES for name in SETS]
    print(f"| sentences per document | {' | '.join(header)} |\n|" + " ---: |" * (1 + len(header)))
    for size in sizes:
        say(f"indexing documents of {size} sentences")
        measures = Measures(esa=train(pieces(texts, size), Settings(shortest=shortest, min_count=min_count)))
        columns = [measures.columns(list(zip(pairs.first, pairs.second, strict=True)), {"esa"}) for pairs in sets]
        cells = []
        for measure in MEASURES:
            place = measures.names.index(f"esa.{measure}")
            cells += [
                f"{pearson(values[:, place], pairs.scores):.3f}" for values, pairs in zip(columns, sets, strict=True)
            ]
        print(f"| {size} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
