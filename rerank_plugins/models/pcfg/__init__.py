"""Probabilistic context-free grammars: training from treebanks, latent splits, exact inference.

A grammar, from the bottom up: lexicon.py, grammar.py, model_file.py.
Training: annotation.py (state splits by hand), forest.py (trees as arrays), lexicon_smoothing.py, tagged_words.py,
treebank_grammar.py (relative frequencies), latent_kernels.py, latent_grammar.py, split_merge.py (states by EM),
training.py (all of it).
Inference: closure.py (unary chains), rules.py, inside.py, outside.py, prefix.py (exact probabilities); projection.py,
blocks.py, pruned_chart.py (coarse to fine); hypergraph.py, k_best.py, derivation_trees.py (trees); parsing.py (all).
"""
