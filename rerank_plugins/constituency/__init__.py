"""Probabilistic context-free grammars: training from treebanks, latent states, exact inference, parsing.

Annotations are those of Klein and Manning (2003), latent states those of Petrov et al. (2006), prefix probabilities
those of Jelinek and Lafferty (1991), and k-best parses those of Huang and Chiang (2005).
"""
