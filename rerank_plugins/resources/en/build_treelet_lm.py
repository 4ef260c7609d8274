"""Builds `treelet-lm.zst`, the embedded English treelet language model.

    python -m rerank_plugins.resources.en.build_treelet_lm select textbooks.txt.xz 16000 > textbooks.txt
    rerank parse textbooks.txt -p pcfg,model=gum.pcfg,threshold=0.01 -o textbooks.ptb
    # the same with presidential (16000) and novels (32000)
    python -m rerank_plugins.resources.en.build_treelet_lm train gum-train.ptb textbooks.ptb presidential.ptb novels.ptb

`select` draws random sentences of at most 60 words (the same ones each time), with brackets in their normal form. Words
and rules that occur once have no numbers of their own, long n-grams that occur once are pruned, and log10 values are
rounded to 1/64 (a probability changes by at most 1.8 %).
"""

from __future__ import annotations

import lzma
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.model_file import compress_model
from rerank_plugins.models.backoff.tables import BackoffTables
from rerank_plugins.models.treelet.model import Settings, TreeletModel
from rerank_plugins.models.treelet.model_file import write_model
from rerank_plugins.models.treelet.training import collect, train
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import Tree, read_trees
from rerank_plugins.trees.penn import normal_text

SETTINGS = Settings(min_count=2, min_rule_count=2, prune_words=(0, 0, 1, 1, 2), prune_rules=(0, 0, 1, 2))
STEPS = 64  # log10 values are rounded to multiples of 1 / STEPS
LEVEL = 19  # compression level
LONGEST = 60  # words of a selected sentence


def rounded(tables: BackoffTables) -> BackoffTables:
    """The tables with log10 values that are multiples of 1 / STEPS."""

    def rounding(records: NDArray[Any], name: str) -> NDArray[Any]:
        copy = records.copy()
        copy[name] = np.round(copy[name] * STEPS) / STEPS
        return copy

    return replace(tables, events=rounding(tables.events, "log10"), contexts=rounding(tables.contexts, "backoff"))


def compact(model: TreeletModel) -> TreeletModel:
    """The model with rounded tables; the probabilities of unknown rules remain exact."""
    rules = rounded(model.rule_tables)
    rules.events["log10"][: model.rules.unknown] = model.rule_tables.events["log10"][: model.rules.unknown]
    yields = replace(model.yields, given_parent=rounded(model.yields.given_parent), alone=rounded(model.yields.alone))
    return replace(model, rule_tables=rules, word_tables=rounded(model.word_tables), yields=yields)


def read(names: Sequence[str]) -> Iterator[Tree]:
    """The trees of bracketed files."""
    for name in names:
        with open(name, encoding="utf-8") as lines:
            yield from (tree for tree in map(clean, read_trees(lines, name)) if tree is not None)


def select(name: str, number: int) -> Iterator[str]:
    """A random selection of `number` sentences of an xz-compressed text."""
    with lzma.open(name, "rt", encoding="utf-8") as lines:
        sentences = [normal_text(line).split() for line in lines]
    short = [words for words in sentences if 1 <= len(words) <= LONGEST]
    random.Random(1).shuffle(short)
    return map(" ".join, short[:number])


def build(arguments: Sequence[str]) -> None:
    """Train on bracketed files, and write the model beside this module."""
    model = train(collect(read(arguments), SETTINGS), SETTINGS)
    model.provenance["files"] = [Path(name).name for name in arguments]
    target = Path(__file__).with_name("treelet-lm.zst")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "model"
        size = write_model(compact(model), plain)
        compress_model(plain, target, LEVEL)
    provenance = model.provenance
    trained_on = f"{provenance['trees']} trees, {provenance['words']} words"
    print(f"{target.name}: {trained_on}, {len(model.vocabulary)} in the vocabulary,")
    print(f"{len(model.symbols)} symbols, rules {model.rule_tables.sizes}, words {model.word_tables.sizes};")
    print(f"{size} bytes, {target.stat().st_size} compressed")


if __name__ == "__main__":
    if sys.argv[1:2] == ["select"]:
        print(*select(sys.argv[2], int(sys.argv[3])), sep="\n")
    elif sys.argv[1:2] == ["train"]:
        build(sys.argv[2:])
    else:
        sys.exit(__doc__)
