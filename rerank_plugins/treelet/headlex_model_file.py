"""A HEADLEX model in one file: the tables of each kind of factor, words, labels, settings; see HeadlexModel."""

from __future__ import annotations

from rerank_plugins.kit.files.declared import ModelFile
from rerank_plugins.treelet.headlex_events import sizes
from rerank_plugins.treelet.headlex_model import HeadlexModel


def _fits(model: HeadlexModel) -> bool:
    """Whether the tables have the symbols and the orders that they must have."""
    wanted = sizes(len(model.symbols), len(model.vocabulary))
    return all((t.order, t.sizes[0]) == (len(wanted[kind]), wanted[kind][0]) for kind, t in model.tables.items())


FILE = ModelFile(HeadlexModel, "headlex", "head-lexicalised model", check=_fits)
read_model, write_model = FILE.read, FILE.write
