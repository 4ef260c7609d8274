"""Reads and writes a trained parser: a model file of the weights of its network, its word vectors, and its labels.

Weights are stored in half precision with few bits (kit/files/coarse_floats.py), and word vectors in bytes. Byte planes
and Zstandard (kit/files/model_file.py) then make a file of a third of the bytes that the weights have in single
precision, and the parser is as good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.dependency.biaffine.lstm import Direction, Float32, Params, halved
from rerank_plugins.dependency.biaffine.network import Sizes, shapes
from rerank_plugins.dependency.biaffine.pieces import WordInputs, text_form
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.array_values import ContentsError, check_values, refusing_damage
from rerank_plugins.kit.files.coarse_floats import coarse

KIND = "biaffine dependency parser"
WEIGHTS = "params/"  # the beginning of the names of the weights
LISTS = ("pieces", "forms", "tags", "relations")
VECTOR_SCALE = 200.0  # factor of the components of a unit vector, rarely above 0.6, when they are stored as bytes


@dataclass(frozen=True, eq=False)
class BiaffineModel:
    """A trained parser: weights (network.py), the piece of each row of the piece table, word vectors, and labels.

    `forms` are the words of the word vectors (text_form); `settings` records how the parser was trained; `language` is
    the code of its language, such as "en".
    """

    params: Params
    pieces: tuple[str, ...]
    forms: tuple[str, ...]
    vectors: Float32
    tags: tuple[str, ...]
    relations: tuple[str, ...]
    language: str
    settings: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def piece_rows(self) -> dict[str, int]:
        """The row of each piece."""
        return {piece: row for row, piece in enumerate(self.pieces)}

    @cached_property
    def vector_rows(self) -> dict[str, int]:
        """The row of the vector of each form."""
        return {form: row for row, form in enumerate(self.forms)}

    def __contains__(self, word: object) -> bool:
        """Whether the word has a vector."""
        return isinstance(word, str) and text_form(word) in self.vector_rows

    @cached_property
    def layers(self) -> tuple[tuple[Direction, ...], ...]:
        """The weights of the LSTM layers, for parsing."""
        return halved(self.params)

    @cached_property
    def inputs(self) -> WordInputs:
        """The inputs of the network for words."""
        return WordInputs(self)

    def save(self, path: Path) -> None:
        """Write the file completely or not at all; the same model always gives the same bytes. Raises OSError."""
        arrays = {f"{WEIGHTS}{name}": coarse(value) for name, value in self.params.items()}
        arrays["vectors"] = np.clip(np.rint(self.vectors * VECTOR_SCALE), -127, 127).astype(np.int8)
        settings = {name: getattr(self, name) for name in (*LISTS, "language", "settings")}
        model_file.write_model(path, KIND, settings, arrays, compressed=True)


def read_model(path: Path) -> BiaffineModel:
    """Read a model file.

    Raises ModelError for a file that is missing, damaged, cut short, or of another kind or version.
    """
    settings, arrays = model_file.read_model(path, KIND)
    with refusing_damage(f"{path}: damaged model of a parser"):
        lists = {name: tuple(settings[name]) for name in LISTS}
        check_values("vectors", arrays["vectors"], "finite")
        vectors = arrays["vectors"].astype(np.float32) / np.float32(VECTOR_SCALE)
        model = BiaffineModel(
            _params(arrays), vectors=vectors, language=settings["language"], settings=settings["settings"], **lists
        )
        _check_shapes(model)
        return model


def _params(arrays: Mapping[str, NDArray[Any]]) -> Params:
    """The weights, in single precision. Raises ContentsError for one that is not finite."""
    own = {name: value for name, value in arrays.items() if name.startswith(WEIGHTS)}
    for name, value in own.items():
        check_values(name, value, "finite")
    return {name.removeprefix(WEIGHTS): value.astype(np.float32) for name, value in own.items()}


def _check_shapes(model: BiaffineModel) -> None:
    """Raise ContentsError where arrays do not fit each other or the lists: products and rows would be out of range."""
    params = model.params
    sizes = Sizes(
        piece=params["pieces"].shape[1], vector=model.vectors.shape[1], lstm=len(params["lstm1.forward.u"]),
        arc=len(params["root.arc"]), label=len(params["root.label"]),
    )  # fmt: skip
    wanted = shapes(sizes, len(model.pieces), len(model.tags), len(model.relations))
    wanted["vectors"] = len(model.forms), sizes.vector
    own = {name: value.shape for name, value in params.items()} | {"vectors": model.vectors.shape}
    for name in sorted(wanted.keys() | own.keys()):
        if wanted.get(name) != own.get(name):
            raise ContentsError(f"{name} has the shape {own.get(name)}, wanted {wanted.get(name)}")
