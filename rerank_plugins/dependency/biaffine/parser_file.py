"""Reads and writes a trained parser: a NumPy archive (npz) of the network's weights, pieces, tags and relations.

Weights are stored in half precision with few bits (kit/files/coarse_floats.py) and word vectors in bytes, which takes a
quarter of the space and parses as well. The archive's comment holds the checksums of the whole file
(core/checksummed_files.py); files of version 1 have none.
"""

from __future__ import annotations

import io
import json
import logging
import os
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.checksummed_files import DamagedFileError, add_checksums, checked, unfinished
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.dependency.biaffine.lstm import Direction, Float32, Params, halved
from rerank_plugins.dependency.biaffine.pieces import WordInputs, text_form
from rerank_plugins.kit.files.coarse_floats import coarse

KIND, VERSION = "biaffine dependency parser", 2
FORMER = 1  # the version of files without checksums
VECTOR_SCALE = 200.0  # factor of the components of a unit vector, rarely above 0.6, when they are stored as bytes

DAMAGED = (*DAMAGE, EOFError, OSError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class BiaffineModel:
    """A trained parser: weights (network.py), the piece of each row of the piece table, word vectors, and labels.

    `forms` are the words of the word vectors (text_form); `settings` records how the parser was trained; `language` is
    the code of its language, such as "en". `others` are the weights of the further networks of an ensemble.
    """

    params: Params
    pieces: tuple[str, ...]
    forms: tuple[str, ...]
    vectors: Float32
    tags: tuple[str, ...]
    relations: tuple[str, ...]
    language: str
    settings: dict[str, Any] = field(default_factory=dict)
    others: tuple[Params, ...] = ()

    @cached_property
    def networks(self) -> tuple[BiaffineModel, ...]:
        """The networks of the ensemble, of which this one is the first, each as a model of its own."""
        return self, *(replace(self, params=params, others=()) for params in self.others)

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

    def to_bytes(self) -> bytes:
        """The archive without checksums; the same model always gives the same bytes."""
        names = ("pieces", "forms", "tags", "relations", "language", "settings")
        header = {"kind": KIND, "version": VERSION} | {name: getattr(self, name) for name in names}
        arrays = {
            f"params{number or ''}/{name}": coarse(value)
            for number, params in enumerate((self.params, *self.others))
            for name, value in params.items()
        }
        arrays["vectors"] = np.clip(np.rint(self.vectors * VECTOR_SCALE), -127, 127).astype(np.int8)
        arrays["header"] = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                content = io.BytesIO()
                np.save(content, array)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED, 9)
        return stream.getvalue()

    def save(self, path: Path) -> None:
        """Write the file completely or not at all."""
        with unfinished(path) as temporary:
            temporary.write_bytes(self.to_bytes())
            add_checksums(temporary)
            os.replace(temporary, path)


def read_model(path: Path) -> BiaffineModel:
    """Read a model file. A file of version 1, which has no checksums, is read with a warning in the log.

    Raises ModelError for a file that is missing, damaged, cut short, or of another kind or version.
    """
    try:
        content = path.read_bytes()
        has_checksums = checked(np.frombuffer(content, np.uint8)) is not None
    except OSError as error:
        raise ModelError(f"{path}: the parser's model cannot be read ({error.strerror})") from None
    except DamagedFileError as error:
        raise ModelError(f"{path}: {error}") from None
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = read_json(arrays.pop("header").tobytes())
        kind, version = header["kind"], header["version"]
    except DAMAGED:
        raise ModelError(f"{path}: not a model of a biaffine parser, or cut short") from None
    if kind == KIND and version == (FORMER if has_checksums else VERSION):
        raise ModelError(f"{path}: damaged, cut short, or added to: its end is not that of its checksums")
    if kind == KIND and version == FORMER:
        logger.warning(
            "%s: parser of version %d, without checksums: damage to it goes unseen (train the parser again, or run "
            "`python -m rerank_plugins.resources.renew %s`)",
            path, FORMER, path,
        )  # fmt: skip
    elif (kind, version) != (KIND, VERSION):
        raise ModelError(f"{path}: {kind}, version {version}; wanted {KIND}, version {VERSION}")
    try:
        vectors = arrays.pop("vectors").astype(np.float32) / np.float32(VECTOR_SCALE)
        networks: dict[str, Params] = {}
        for path_in_archive, value in arrays.items():
            network, _, name = path_in_archive.partition("/")
            networks.setdefault(network, {})[name] = value.astype(np.float32)
        params, *others = networks.values()
        pieces, forms, tags, relations = (tuple(header[name]) for name in ("pieces", "forms", "tags", "relations"))
        language, settings = header["language"], header["settings"]
        return BiaffineModel(params, pieces, forms, vectors, tags, relations, language, settings, tuple(others))
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model of a parser ({type(error).__name__}: {error})") from None
