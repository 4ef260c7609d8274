"""Training of models from text and treebanks, a model a module."""
