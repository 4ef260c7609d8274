"""Probabilistic context-free grammars: training from treebanks, latent splits, exact inference.

Grammars         lexicon.py and grammar.py (arrays), model_file.py, embedded.py (the English grammar)
Training         annotation.py, forest.py, treebank_grammar.py (relative frequencies), tagged_words.py,
                 lexicon_smoothing.py, latent_grammar.py, latent_kernels.py and split_merge.py (latent states),
                 training.py
Exact inference  closure.py (unary chains), expectations.py, unigrams.py, rules.py, inside.py, outside.py, prefix.py
Parsing          projection.py (the coarse grammar), cell_memory.py (cells that sentences share), blocks.py and
                 pruned_chart.py (the fine grammar), hypergraph.py (criteria), k_best.py, derivation_trees.py,
                 tagged.py, fallback.py, parsing.py
"""
