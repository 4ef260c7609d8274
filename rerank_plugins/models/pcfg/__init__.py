"""Probabilistic context-free grammars: training from treebanks, latent splits, exact inference.

A grammar    lexicon.py and grammar.py (in arrays), model_file.py, embedded.py (the English one)
Training     annotation.py, forest.py, treebank_grammar.py (relative frequencies), lexicon_smoothing.py,
             latent_grammar.py and split_merge.py (latent states), training.py
Exact        closure.py (unary chains), expectations.py, rules.py, inside.py, outside.py, prefix.py
Parsing      projection.py (the coarse grammar), blocks.py and pruned_chart.py (the fine one), hypergraph.py (criteria),
             k_best.py, derivation_trees.py, tagged.py, fallback.py, parsing.py
"""
