"""Print textual similarity on the STS sets: measures, systems, and the measures of these (docs/results/similarity.md).

`left out` is the mean over the sources of the correlation on the source of what is learnt from the others.

DATA is a folder with sts/2012.*.tsv, sts/2013.*.test.tsv and so on (`score<TAB>sentence<TAB>sentence`). It may have
eval_only/sts_benchmark/*.csv too, which is then a third source to learn from. The options are those of `rerank
similarity`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from docs.results.scripts.experiment import experiment
from docs.results.scripts.similarity_sets import HEADER, TESTS, Sets, read_sets, with_measures
from rerank_adapters.applications.similarity.learning import SimilaritySettings, fit, left_out
from rerank_adapters.applications.similarity.measure_data import family_of

RUNS = {
    "shrunk, one for all": SimilaritySettings(),
    "shrunk, mixed": SimilaritySettings("mixed"),
    "paper, r1, mixed": SimilaritySettings("mixed", "paper"),
    "paper, r2, best source": SimilaritySettings("best", "paper"),
    "paper, r3, mixed, less `takelab`": SimilaritySettings("mixed", "paper", ("takelab",)),
    "paper, r4, one for all": SimilaritySettings("one", "paper"),
}
SHOWN = (
    "shrunk, one for all",
    "paper, r4, one for all",
    "paper, r1, mixed",
    "paper, r3, mixed, less `takelab`",
)
ALONE = (
    "tfidf.stems",
    "tfidf.characters_3",
    "overlap.content_unigram",
    "entities.overlap",
    "vectors.document_idf",
    "vectors.document_aligned",
    "vectors.lsa_idf",
    "esa.cosine",
    "esa.aligned",
    "wordnet.path",
    "wordnet.wup",
    "wordnet.lch",
    "wordnet.lin",
    "wordnet.jcn",
    "wordnet.resnik",
    "wordnet.augmented",
    "wordnet.greedy_lemmas",
    "svs.top",
    "svs.phrase",
)
PAPER = {
    "r1 of the paper": "0.658 | 0.778 | 0.374 | 0.667 | | |",
    "r2 of the paper": "0.683 | 0.661 | 0.396 | 0.639 | | |",
    "r3 of the paper": "0.644 | 0.830 | 0.320 | 0.673 | | |",
    "r4 of the paper": "0.728 | 0.762 | 0.436 | 0.704 | | |",
}  # its Table 2; the means are of the three sets, weighted by pairs


@experiment("similarity_table", __doc__)
@with_measures
def main(**options: Any) -> None:
    """Compute the measures, learn all systems and print the tables."""
    started = time.process_time()
    sets = read_sets(**options)
    names = sets.training.names
    head("Single measures, without learning", HEADER)
    for name in (name for name in ALONE if name in names):
        print(f"| `{name}` | {sets.row({test: sets.values[test][:, names.index(name)] for test in TESTS})} |")
    for run, cells in PAPER.items():
        print(f"| {run} | {cells}")
    tables("Trained on 2012", sets, sets.sources[:2])
    if len(sets.sources) > 2:
        why = f"{sets.dropped} pairs with a sentence of a test file are left out"
        tables(f"Trained on 2012 and the STS benchmark ({why})", sets, sets.sources)
    print(f"\n{time.process_time() - started:.0f} s of CPU time")


def head(title: str, header: Sequence[str]) -> None:
    """Print the title and the header of a table."""
    print(f"\n{title}\n\n| system | {' | '.join(header)} |\n| --- |" + " ---: |" * len(header))


def tables(title: str, sets: Sets, sources: Sequence[str]) -> None:
    """Print the tables of the systems that learn from these sources."""
    training = sets.only(sources)
    head(f"{title}: {len(training.scores)} pairs of {len(sources)} sources", ("left out", *HEADER))
    runs = dict(RUNS)
    runs |= {
        f"shrunk, less `{f}`": SimilaritySettings(without=(f,)) for f in dict.fromkeys(map(family_of, training.names))
    }
    chosen = {}
    for label, settings in runs.items():
        part = training.of(settings)
        model = chosen[label] = fit(part, sources, settings)
        at = [training.names.index(name) for name in part.names]
        apart = left_out(part, sources, settings) if settings.mode == "one" else {}
        mean = f"{np.mean(list(apart.values())):.3f}" if apart else ""
        print(f"| {label} | {mean} | {sets.row({t: model.scores(sets.values[t][:, at]) for t in TESTS})} |", flush=True)
    for label in SHOWN:
        for source, regression in chosen[label].regressions.items():
            print(f"\n{label}, {source}: {', '.join(regression.columns)}")


if __name__ == "__main__":
    main()
