"""Scores by neural models: causal, masked and translation models of transformers, and large ones behind a server.

The pseudo-log-likelihood of masked models is that of Salazar et al. (2020), trees of prefixes are those of Miao et al.
(2024), and the score of the source given the hypothesis is the channel model of Yee et al. (2019). torch and
transformers (extra `neural`) are imported when a model is opened, and nothing is ever downloaded.
"""
