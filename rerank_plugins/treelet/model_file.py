"""A treelet model in one file: four pairs of tables, words, labels, rules and settings; see TreeletModel.

The tables are mapped into memory; reading the words and labels takes some milliseconds. The hash table of the rules is
built when it is first used.
"""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.treelet.model import TreeletModel

FILE = ModelFile(
    TreeletModel,
    "treelet",
    "treelet language model",
    first=("vocabulary", "rules", "rule_tables", "word_tables"),
    check=lambda model: (model.rule_tables.order, model.word_tables.order) == model.settings.orders,
)
read_model, write_model = FILE.read, FILE.write
