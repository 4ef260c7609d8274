r"""Builds `treelet-lm.zst`, the embedded English treelet language model.

    select="python -m rerank_plugins.resources.en.text_selection"
    for text in textbooks presidential tatoeba-more novels; do $select $text.txt.xz > $text.txt; done
    $select --share 0.36 novels-more.txt.xz > novels-more.txt
    split -n l/3 novels.txt nv.; split -n l/6 novels-more.txt nm.      # and rename the parts nv.00.txt and so on
    rerank parse textbooks.txt --text none -p pcfg,threshold=0.003 -o textbooks.ptb    # each of the twelve texts
    python -m rerank_plugins.resources.en.build_treelet_lm gum-train.ptb textbooks.ptb presidential.ptb \
        tatoeba-more.ptb nv.00.ptb nv.01.ptb nv.02.ptb nm.00.ptb nm.01.ptb nm.02.ptb nm.03.ptb nm.04.ptb nm.05.ptb

Words that occur once and rules that occur up to four times have no numbers of their own, long n-grams that are rare are
pruned, and log10 values are rounded to 1/64 (a probability changes by at most 1.8 %).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.files.model_file import compress_model
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.treelet.model import Settings, TreeletModel, write_model
from rerank_plugins.treelet.training import collect, train

SETTINGS = Settings(
    min_count=2,
    min_rule_count=5,
    prune_words=(0, 0, 3, 6, 12),
    prune_rules=(0, 0, 4, 8),
    prune_yields=(0, 1, 4, 8),
)
STEPS = 64  # log10 values are rounded to multiples of 1 / STEPS
LEVEL = 19  # compression level


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
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build(sys.argv[1:])
