"""The treelet language model of Pauls and Klein (2012): the probability of a sentence from windows of its parses.

HEADLEX is the paper's head-lexicalised baseline (section 5.1), and SLR the syntactic log-odds ratio of a sentence.
"""
