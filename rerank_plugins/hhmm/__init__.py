"""The hierarchic hidden Markov model of right-corner parsing, as an incremental syntactic language model.

Schuler, AbdelRahman, Miller and Schwartz (2010) define the parser, Schwartz et al. (2011) the language model, and Wu,
Bachrach, Cardenas and Schuler (2010) the measures of complexity.
"""
