"""The dependency language model of Gubbins and Vlachos (2013): words given their ancestors in a dependency tree.

    collector = TreeCollector()
    collector.add(trees)                                    # may be called repeatedly
    model = train(collector, Settings(order=4, labelled=True))      # or train_on(collector.finish(…), …), repeatedly
    model.totals(trees)                                     # (trees) ln P(S | T)
    write_model(model, path); read_model(path)

Files, from the bottom up: paths.py (events from trees), collecting.py (a corpus as numbers), model.py,
model_file.py.
"""

from rerank_plugins.models.dependency_lm.collecting import TreeCollector
from rerank_plugins.models.dependency_lm.model import DependencyModel, Settings, train, train_on
from rerank_plugins.models.dependency_lm.model_file import read_model, write_model

__all__ = ["DependencyModel", "Settings", "TreeCollector", "read_model", "train", "train_on", "write_model"]
