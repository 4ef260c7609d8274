"""Parsers of earlier versions: NumPy archives (npz), which are read as the settings and arrays of a model file.

The comment of an archive of version 2 holds the checksums of the file; archives of version 1 have none.
"""

from __future__ import annotations

import io
import logging
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins.core.checksummed_files import ZIP, DamagedFileError, checked
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.core.paths import begins_with
from rerank_plugins.kit.files.model_file import Arrays

CHECKED, FORMER = 2, 1  # versions
DAMAGED = (*DAMAGE, EOFError, OSError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error)
logger = logging.getLogger(__name__)


def is_archive(path: Path) -> bool:
    """Whether a file begins as a zip archive does."""
    return begins_with(path, ZIP)


def read_archive(path: Path, kind: str) -> tuple[dict[str, Any], Arrays]:
    """The settings and the arrays of a parser. One without checksums is read with a warning in the log.

    Raises ModelError for an archive that is damaged, cut short, or of another kind or version.
    """
    try:
        content = np.fromfile(path, np.uint8)
        has_checksums = checked(content) is not None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except DamagedFileError as error:
        raise ModelError(f"{path}: {error}") from None
    try:
        with np.load(io.BytesIO(content.data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        settings = dict(read_json(arrays.pop("header").tobytes()))
        its_kind, version = settings.pop("kind"), settings.pop("version")
    except DAMAGED:
        raise ModelError(f"{path}: not a model of a biaffine parser, or cut short") from None
    if its_kind != kind or version not in (CHECKED, FORMER):
        raise ModelError(f"{path}: {its_kind}, version {version}; wanted {kind}, version {CHECKED}")
    if has_checksums != (version == CHECKED):
        raise ModelError(f"{path}: damaged, cut short, or added to: its end is not that of its checksums")
    if version == FORMER:
        logger.warning(
            "%s: parser of version %d, without checksums: damage to it goes unseen (train the parser again, or run "
            "`python -m rerank_plugins.resources.renew %s`)",
            path, FORMER, path,
        )  # fmt: skip
    return settings, arrays
