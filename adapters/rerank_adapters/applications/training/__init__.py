"""Trains models, for `rerank train NAME`, [[model]] tables of a config and `train` from Python.

common_options  the options that trainers share
tree_source     trees of treebanks and of parsed text
opened_data     the data of a training, as a trainer reads them
training        a trainer with its data and its output, which is run
model_tables    the trainings that a config describes
commands        the command of each trainer
train           the function of the Python API
"""
