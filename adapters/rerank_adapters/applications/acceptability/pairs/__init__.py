"""Measures how often a system prefers the good sentence of a minimal pair to the bad one.

scoring       systems from the feature table: each column alone, or a weighted sum
fitting       weights fitted to pairs by logistic regression
preferences   accuracy, its interval, and McNemar's test
report        records and tables
command       `rerank acceptability pairs`
fit_command   `rerank acceptability fit`
"""
