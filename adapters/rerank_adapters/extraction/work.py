"""The work folder: it keeps the finished chunks of an extraction, so that an interrupted one can be continued."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np

from rerank_adapters.extraction.fingerprint import of_lists
from rerank_plugins import FloatArray, NBestList, RerankError
from rerank_plugins.checksums import DamagedFileError, add_checksums, checked
from rerank_plugins.identity import plain_hash


@dataclass(frozen=True)
class WorkFolder:
    """One file per finished chunk, named by the fingerprint of everything that its values depend on.

    `plan` is the fingerprint of the plan. A file is written under another name and then renamed, so that it is whole.
    """

    path: Path
    plan: str = ""

    def file(self, nbests: Sequence[NBestList]) -> Path:
        """The file of the chunk of these lists."""
        return self.path / f"chunk-{plain_hash([self.plan, of_lists(nbests)])[:40]}.npy"

    def load(self, file: Path, shape: tuple[int, int]) -> FloatArray | None:
        """The values of a finished chunk; None where its file is missing or damaged, so that it is extracted again."""
        try:
            content = checked(np.fromfile(file, np.uint8))
            values = np.load(BytesIO(b"" if content is None else content.tobytes()), allow_pickle=False)
        except (OSError, ValueError, EOFError, DamagedFileError):
            return None
        usable = values.shape == shape and values.dtype == np.float64 and bool(np.isfinite(values).all())
        return values if usable else None

    def save(self, file: Path, values: FloatArray) -> None:
        """Write a finished chunk. Raises RerankError where it cannot be written."""
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with open(temporary, "wb") as stream:
                np.save(stream, values)
            add_checksums(temporary)
            os.replace(temporary, file)
        except OSError as error:
            raise RerankError(f"{self.path}: a finished chunk cannot be written ({error.strerror})") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def sweep(self, processes: Iterable[int]) -> None:
        """Remove the files that these processes, which have ended, left unfinished."""
        for process in processes:
            for file in self.path.glob(f"chunk-*.{process}.tmp"):
                file.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove the chunks, and the folder if it is empty then; called when the table has been saved."""
        for pattern in ("chunk-*.npy", "chunk-*.tmp"):
            for file in self.path.glob(pattern):
                file.unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()
