"""Analyses of a job: what its results are made of.

run_steps, facts                   after the steps of a run: contributions, intervals and the report of a test set
contributions, weight_intervals    what families of features contribute, and how sure the weights are
ablation                           scores of subsets of the features
"""
