"""Makes the folder of the files that tasks hand over, and removes it at the end or after a killed process.

A folder `.shards-MACHINE.1a2b3c4d` belongs to the process that holds the lock of the file beside it
(rerank_plugins/core/unfinished_files.py). A folder without such a file was left by a killed process of this machine;
those of other machines, whose locks may not be seen here, are left alone.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rerank_plugins.core.paths import this_machine
from rerank_plugins.core.unfinished_files import unfinished


@contextmanager
def shards_folder(parent: Path | None) -> Iterator[Path]:
    """A new folder in `parent`, by default that of temporary files, for as long as the block. Raises OSError."""
    parent = Path(parent or tempfile.gettempdir()).resolve()
    name = f".shards-{hashlib.blake2b(this_machine().encode(), digest_size=4).hexdigest()}"
    with unfinished(parent / name) as lock:  # which removes the files of killed processes
        for folder in parent.glob(f"{name}.*"):
            if not (parent / f".{folder.name}.tmp").exists():
                shutil.rmtree(folder, ignore_errors=True)
        folder = parent / lock.name.removeprefix(".").removesuffix(".tmp")
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
