"""Rewrites model files of earlier versions, which have no checksums; the models are unchanged.

    python -m rerank_plugins.resources.renew MODEL...

MODEL is a model file of `rerank train` or `rerank similarity train`, compressed or not, or a dependency parser, which
earlier versions wrote as a NumPy archive. Files of the current version are not changed. Damage that an old file already
has cannot be detected, and remains.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rerank_plugins.core.errors import ModelError
from rerank_plugins.dependency.biaffine.former_archive import is_archive
from rerank_plugins.dependency.biaffine.parser_file import read_model
from rerank_plugins.kit.files.model_file import renew_model

LEVEL = 19  # compression level of files that are compressed


def renew(path: Path) -> int:
    """Rewrite a model file and return its size in bytes. Raises ModelError for a damaged or any other file."""
    try:
        if not is_archive(path):
            return renew_model(path, LEVEL)
        read_model(path).save(path)
        return path.stat().st_size
    except OSError as error:
        raise ModelError(f"{path}: cannot be renewed ({error.strerror})") from None


def main(arguments: Sequence[str]) -> None:
    """Renew the files and print their sizes before and after."""
    for name in arguments:
        path = Path(name)
        before = path.stat().st_size if path.exists() else 0
        print(f"{path}: {before} bytes before, {renew(path)} now")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1:])
    except ModelError as error:
        sys.exit(str(error))
