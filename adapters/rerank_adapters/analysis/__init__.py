"""Analyses of a job: what a check finds before it, what it will cost, and what its results are made of.

check, estimate                    before a run: faults of a config and its data, time and memory
run_steps, facts                   after the steps of a run: contributions, intervals and the report of a test set
contributions, weight_intervals    what families of features contribute, and how sure the weights are
ablation                           scores of subsets of the features
"""
