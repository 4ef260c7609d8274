"""Training of models from text and treebanks: a module for each model, with its command and what the command does.

A module imports numpy, numba and the model's own package inside functions only, so that `rerank train MODEL --help`
answers at once.
"""
