"""The treelet language model of Pauls and Klein (2012): the probability of a sentence from windows of its parses.

    settings = Settings(variant="treelet")
    model = train(collect(trees, settings), settings)       # trees of a treebank or a parser
    model.score_trees(trees)                                # (trees) ln p(T), words included
    write_model(model, path); read_model(path)
    TreeletSampler(model).sample_trees(10, np.random.default_rng(1))

Files, from the bottom up: forest.py (trees in arrays), rules.py (rules by number), events.py (contexts), yields.py (the
lowest order of yields), interning.py, numbering.py and transforming.py (k-best trees in arrays, by their shared
subtrees), collecting.py (a corpus as numbers), model.py, training.py, sampling.py, model_file.py.
"""

from rerank_plugins.models.treelet.model import ORDERS, Settings, TreeletModel, Variant

__all__ = ["ORDERS", "Settings", "TreeletModel", "Variant"]
