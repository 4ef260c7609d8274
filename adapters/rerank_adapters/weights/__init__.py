"""Feature weights and their files: weights.toml, moses.ini, and Moses's dense and sparse weights files."""

from rerank_adapters.weights.files import read_weights, trees_file, write_weights
from rerank_adapters.weights.values import Weights

__all__ = ["Weights", "read_weights", "trees_file", "write_weights"]
