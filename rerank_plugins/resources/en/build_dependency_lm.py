"""Builds `dependency-lm.zst`, the embedded English dependency language model.

    rerank parse novels.txt.xz --text none -o novels.conllu    # and the other texts: parsed by the embedded parser
    python -m rerank_plugins.resources.en.build_dependency_lm novels.conllu textbooks.conllu presidential.conllu \
        ewt-train.conllu gum-train.conllu

The model is unlabelled, of order 3, on lower-cased words, with Kneser–Ney smoothing; paths of three words that occur
once are pruned. Among the settings that fit in 10 MB, these were the best on artificial questions from a held-out
novel. The log10 values are rounded to 1/64 (a probability changes by at most 1.8 %), which halves the compressed file.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.model import Settings, train, write_model
from rerank_plugins.kit.files.model_file import compress_model
from rerank_plugins.resources.en.build_treelet_lm import LEVEL, rounded

SETTINGS = Settings(order=3, labelled=False, smoothing="kneser-ney", min_count=5, lowercase=True, prune=(0, 0, 1))


def main(arguments: Sequence[str]) -> None:
    """Train on CoNLL-U files, and write the model beside this module."""
    collector = TreeCollector()
    for name in arguments:
        with open(name, encoding="utf-8") as lines:
            collector.add(read_conllu(lines, name))
    model = train(collector, SETTINGS)
    model.provenance["files"] = [Path(name).name for name in arguments]
    target = Path(__file__).with_name("dependency-lm.zst")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "model"
        size = write_model(replace(model, tables=rounded(model.tables)), plain)
        compress_model(plain, target, LEVEL)
    provenance = model.provenance
    trained_on = f"{provenance['trees']} trees, {provenance['words']} words"
    print(f"{target.name}: {trained_on}, {len(model.vocabulary)} in the vocabulary,")
    print(f"n-grams {model.tables.sizes}; {size} bytes, {target.stat().st_size} compressed")


if __name__ == "__main__":
    main(sys.argv[1:])
