"""Feature weights and their files: weights.toml, moses.ini, and Moses's dense and sparse weights files."""

from pathlib import Path

from rerank_adapters.weights.moses import read_moses_ini, read_moses_weights
from rerank_adapters.weights.named_weights import Weights, read_weights_toml, trees_file, write_weights

__all__ = ["Weights", "read_weights", "trees_file", "write_weights"]


def read_weights(path: str | Path) -> Weights:
    """Read a weights file: .toml is read as weights.toml, .ini as moses.ini, anything else as a Moses weights file.

    Raises FormatError, with the line, for a value that is not a finite number, an unknown key, and a repeated name;
    ModelError for boosted trees that are missing or damaged.
    """
    if Path(path).suffix == ".toml":
        return read_weights_toml(path)
    if Path(path).suffix == ".ini":
        return read_moses_ini(path)
    return read_moses_weights(path)
