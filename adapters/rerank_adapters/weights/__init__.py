"""Feature weights and their files: weights.toml, moses.ini, and Moses's dense and sparse weights files."""

from pathlib import Path

from rerank_adapters.weights.named_weights import Weights, made_at, read_weights_toml, write_weights

__all__ = ["Weights", "made_at", "read_weights", "write_weights"]


def read_weights(path: str | Path) -> Weights:
    """Read a weights file: .toml is read as weights.toml, .ini as moses.ini, anything else as a Moses weights file.

    Raises FormatError, with the line, for a value that is not a finite number, an unknown key, and a repeated name.
    """
    if Path(path).suffix == ".toml":
        return read_weights_toml(path)
    from rerank_adapters.weights import moses

    return moses.read_moses_ini(path) if Path(path).suffix == ".ini" else moses.read_moses_weights(path)
