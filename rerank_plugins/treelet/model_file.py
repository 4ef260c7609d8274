"""Reads and writes a treelet model: four pairs of tables, words, labels, rules and settings.

The tables are mapped into memory; reading the words and labels takes some milliseconds. The hash table of the rules is
built when it is first used.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from rerank_plugins import __version__
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.backoff import table_arrays
from rerank_plugins.kit.files import model_file
from rerank_plugins.treelet.closed_vocabulary import ClosedVocabulary
from rerank_plugins.treelet.model import Settings, TreeletModel
from rerank_plugins.treelet.rule_numbers import Rules
from rerank_plugins.treelet.tree_arrays import Symbols
from rerank_plugins.treelet.yields import YieldModel

KIND = "treelet"
TABLES = ("rules", "words", "given_parent", "alone")


def write_model(model: TreeletModel, path: Path, trained_on: TrainedOn | None = None) -> int:
    """Write the model atomically; return the size of the file in bytes. Raises OSError."""
    described = {
        "settings": asdict(model.settings),
        "phrases": list(model.symbols.phrases),
        "tags": list(model.symbols.tags),
        "weight": model.yields.weight,
        "provenance": {**model.provenance, "version": __version__},
    }
    tables = (model.rule_tables, model.word_tables, model.yields.given_parent, model.yields.alone)
    arrays: model_file.Arrays = {
        "vocabulary": model_file.word_array(model.vocabulary.words),
        "counts": model.vocabulary.counts,
        "rule_starts": model.rules.starts[model.rules.unknown :],
        "rule_symbols": model.rules.symbols,
    }
    for name, table in zip(TABLES, tables, strict=True):
        arrays |= table_arrays.table_arrays(table, f"{name}.")
    return model_file.write_model(path, KIND, described, arrays, trained_on)


def read_model(path: Path) -> TreeletModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    described, arrays = model_file.read_model(path, KIND)
    try:
        settings = described["settings"]
        for name in ("prune_words", "prune_rules", "prune_yields"):
            settings[name] = tuple(settings.get(name, ()))
        symbols = Symbols(tuple(described["phrases"]), tuple(described["tags"]))
        words = model_file.words_from(arrays["vocabulary"])
        starts = np.concatenate([np.zeros(len(symbols), np.int64), arrays["rule_starts"]])
        tables = [table_arrays.tables_from(arrays, 0.0, str(path), f"{name}.") for name in TABLES]
        model = TreeletModel(
            Settings(**settings),
            symbols,
            ClosedVocabulary(words, arrays["counts"]),
            Rules(starts, arrays["rule_symbols"], len(symbols)),
            YieldModel(tables[2], tables[3], float(described["weight"])),
            tables[0],
            tables[1],
            described["provenance"],
        )
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged treelet language model ({type(error).__name__}: {error})") from None
    orders = model.rule_tables.order, model.word_tables.order
    fits = orders == model.settings.orders and model.word_tables.sizes[0] == len(words) == len(arrays["counts"])
    fits = fits and model.rule_tables.sizes[0] == len(model.rules) and int(starts[-1]) == len(model.rules.symbols)
    if not fits or any(table.sizes[0] != len(symbols) for table in tables[2:]):
        raise ModelError(f"{path}: damaged treelet language model: its tables do not fit its settings")
    return model
