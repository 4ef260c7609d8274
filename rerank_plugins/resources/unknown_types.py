"""Adds to model files of earlier versions how many types each class of unknown words stands for; all else is unchanged.

    python -m rerank_plugins.resources.unknown_types [--longest WORDS] MODEL TEXT[=EVERY]...

MODEL is an n-gram model, a grammar, a model of incremental parsing, of structured vectors, of concepts or of treelets.
The TEXTS are those that it was trained on, each named once, or with EVERY every so many sentences of one; with
--longest, only sentences of at most so many words. They have one sentence per line, or are treebanks in brackets (.ptb)
or CoNLL-U, whose words are read; those of a model of concepts are treebanks. The numbers are those of
kit/vocabulary/unknown_types.py.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.constituency.training import KEPT
from rerank_plugins.constituency.treebank_files import treebank
from rerank_plugins.kit.files.model_file import add_settings, model_kind, read_model, words_from
from rerank_plugins.kit.trees.treebank_cleaning import CRAFT_LABELS, category, clean
from rerank_plugins.kit.vocabulary.unknown_types import types_of_signatures, types_of_unknown
from rerank_plugins.ngram.model import KIND
from rerank_plugins.resources.en.build_ngram import sentences
from rerank_plugins.svs import concept_model
from rerank_plugins.svs.concept_model import head_name
from rerank_plugins.svs.head_forest import types_of_rare

WORDS = {KIND: "words", "grammar": "words", "hhmm": "words", "svs": "words"}


def sentences_of(texts: Sequence[str], longest: int) -> Iterator[list[str]]:
    """The words of the sentences of texts, each `TEXT` or `TEXT=EVERY`, that have at most `longest` words."""
    for text in texts:
        name, _, every = text.partition("=")
        for line in islice(sentences(Path(name)), 0, None, int(every or 1)):
            words = line.split()
            if 1 <= len(words) <= longest:
                yield words


def unknown_types(path: Path, texts: Iterator[list[str]]) -> Any:
    """The setting `unknown_types` of a model file: a number, or one for each signature. Raises ModelError."""
    kind = model_kind(path) or ""
    _, arrays = read_model(path, *WORDS, "treelet")
    vocabulary = frozenset(words_from(arrays[WORDS.get(kind, "vocabulary")]))
    if kind == KIND:
        counts = Counter(word for words in texts for word in words)
        kept = np.array([word in vocabulary for word in counts])
        return types_of_unknown(np.array([*counts.values()]), kept)
    placed = Counter((word, place == 0) for words in texts for place, word in enumerate(words))
    return types_of_signatures(placed, vocabulary)


def types_of_concepts(path: Path, treebanks: Sequence[str]) -> dict[str, int]:
    """The setting of a model of concepts that was trained on these treebanks. Raises ModelError, FormatError."""
    occurrences = Counter(
        head_name(leaf.word, category(leaf.label))
        for name in treebanks
        for tree in treebank(Path(name), lambda line: None)
        if (kept := clean(tree, CRAFT_LABELS, KEPT))
        for leaf in kept.preterminals()
    )
    return types_of_rare(occurrences, frozenset(concept_model.read_model(path).heads))


def main() -> None:
    """Add the setting to the file, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--longest", type=int, default=1 << 30, help="number of words of the longest sentence")
    chosen = parser.parse_args()
    if model_kind(chosen.model) == concept_model.FILE.kind:
        types = types_of_concepts(chosen.model, chosen.texts)
    else:
        types = unknown_types(chosen.model, sentences_of(chosen.texts, chosen.longest))
    size = add_settings(chosen.model, {"unknown_types": types})
    print(f"{chosen.model}: {size} bytes, {types}")


if __name__ == "__main__":
    main()
