"""N-gram language models: training, files (our own, ARPA, KenLM's), unigrams, mixtures, classes, sampling.

Smoothing is interpolated modified Kneser-Ney (Chen and Goodman 1999) or stupid backoff (Brants et al. 2007); the
estimator is that of `kit/backoff`. KenLM is Heafield (2011).
"""
