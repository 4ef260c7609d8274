"""Builds an English n-gram language model like `ngram.zst`, the embedded one.

    python -m rerank_plugins.resources.en.build_ngram novels.txt.xz novels-more.txt.xz \
        textbooks.txt.xz presidential.txt.xz tatoeba-more.txt.xz gum-train.ptb ewt-train.conllu.xz

Texts have one sentence per line, with tokens separated by spaces; of treebanks, bracketed (.ptb) or in CoNLL-U, the
words are read. Words are in their case, with brackets in their normal form (core/brackets_and_quotes.py). Of the file
novels-more, every third sentence is read; texts other than the novels are read three times, as they are nearer to the
English of today. The model is of order 4, without rare n-grams, and its values are rounded. The same texts give the
same file.
"""

from __future__ import annotations

import lzma
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from rerank_plugins.core.brackets_and_quotes import normal_text
from rerank_plugins.core.constituency_tree import read_trees
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.ngram.training import NgramSettings, train

SETTINGS = NgramSettings(order=4, prune=(0, 1, 2, 3), most_words=60_000)
TIMES = 3  # that a text other than a novel is read
PART = 3  # one sentence of so many is read of novels-more


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a text or treebank, plain or .xz."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        name = path.name.removesuffix(".xz")
        if name.endswith(".ptb"):
            texts: Iterator[str] = (" ".join(tree.words()) for tree in read_trees(lines, name))
        elif name.endswith(".conllu"):
            texts = (" ".join(tree.words) for tree in read_conllu(lines, name))
        else:
            texts = iter(lines)
        yield from map(normal_text, texts)


def texts(paths: Sequence[Path]) -> Iterator[tuple[str, Iterator[str]]]:
    """The name and the sentences of each text, as often as it is read."""
    for path in paths:
        part = PART if path.name.startswith("novels-more") else 1
        for _ in range(1 if path.name.startswith("novels") else TIMES):
            yield path.name, islice(sentences(path), 0, None, part)


def main(arguments: Sequence[str]) -> None:
    """Train on the files, and write the model beside this module."""
    paths = [Path(argument) for argument in arguments]
    ngrams = train(texts(paths), SETTINGS, jobs=os.cpu_count() or 1).ngrams
    ngrams.settings["texts"] = [path.name for path in paths]
    target = Path(__file__).with_name("ngram.zst")
    size = ngrams.save(target, compact=True)
    sentences, words, sizes = ngrams.settings["sentences"], ngrams.settings["words"], ngrams.tables.sizes
    print(f"{target.name}: {sentences:,} sentences, {words:,} words, {len(ngrams.vocabulary):,}")
    print(f"in the vocabulary; {sum(sizes):,} n-grams {sizes}; {size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
