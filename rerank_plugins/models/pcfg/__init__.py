"""Probabilistic context-free grammars: training from treebanks, latent splits, exact inference.

Files, from the bottom up: lexicon.py and grammar.py (a grammar in arrays), treebank_grammar.py (relative frequencies).
"""
