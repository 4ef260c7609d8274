"""Print the perplexity of the embedded n-gram model beside that of all its n-grams (docs/results/language-models.md).

The TEXTS are those that the embedded model was built from (rerank_plugins/resources/en/README.md). The second model is
trained on them in the same way, but nothing is pruned or rounded. Unknown words are left out of the perplexities; both
models have the same vocabulary.

\b
    python -m docs.results.scripts.embedded_ngram novels.txt.xz novels-more.txt.xz textbooks.txt.xz \\
        presidential.txt.xz tatoeba-more.txt.xz gum-train.ptb ewt-train.conllu.xz \\
        --held-out gum-dev.ptb --held-out novel-dev.txt --held-out tune.ref
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, experiment, say
from rerank_plugins.kit.backoff.scoring import score_text
from rerank_plugins.kit.vocabulary.word_ids import UNK
from rerank_plugins.ngram.language_model import EMBEDDED
from rerank_plugins.ngram.model import NgramModel
from rerank_plugins.ngram.training import train
from rerank_plugins.resources.en.build_ngram import SETTINGS, sentences, texts


def cell(ngrams: NgramModel, text: list[list[str]]) -> str:
    """The perplexity of a text, and the share of unknown words."""
    tokens = ngrams.vocabulary.encode(text)
    scores, _ = score_text(ngrams.tables, tokens)
    known = tokens != UNK
    return f"{np.exp(-scores[known].mean()):.1f} | {(1 - known.mean()):.1%}"


@experiment("embedded_ngram", __doc__)
@click.argument("paths", metavar="TEXTS...", type=FILE, nargs=-1, required=True)
@click.option("--held-out", type=FILE, multiple=True, required=True, help="Print the perplexity of this text.")
def main(paths: tuple[Path, ...], held_out: tuple[Path, ...]) -> None:
    """Train on the texts, score the others with both models and print the table."""
    started = time.process_time()
    embedded = NgramModel.load(EMBEDDED)
    print(f"The embedded model is read in {time.process_time() - started:.1f} s of CPU time.\n")
    say("training")
    whole = train(texts(paths), replace(SETTINGS, prune=()), jobs=os.cpu_count() or 1).ngrams
    print("| model | n-grams |" + "".join(f" {path.name} | unknown |" for path in held_out))
    print("| --- | ---: |" + " ---: | ---: |" * len(held_out))
    asked = [[line.split() for line in sentences(path)] for path in held_out]
    for name, ngrams in (("embedded", embedded), ("all n-grams", whole)):
        row = " | ".join(cell(ngrams, text) for text in asked)
        print(f"| {name} | {sum(ngrams.tables.sizes):,} | {row} |", flush=True)


if __name__ == "__main__":
    main()
