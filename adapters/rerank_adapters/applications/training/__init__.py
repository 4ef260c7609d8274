"""Trains models from text and treebanks: one module for each model, with its command and the work of the command.

A module imports numpy, numba and the model's own package inside functions only, so that `rerank train MODEL --help`
answers at once.
"""
