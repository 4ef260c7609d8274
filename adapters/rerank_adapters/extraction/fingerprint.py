"""What a feature's values depend on, as plain values and hashes: options, files, code, and the lists themselves.

Provenance shows it, and finished chunks of an interrupted extraction are found again by it: an option, the content of a
model file, the source file of an extractor's class and our version change it. Left out: modules that a plugin imports.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import NBestList, PluginError
from rerank_plugins.paths import content_hash


def describe(value: Any) -> Any:
    """Plain values (for JSON) that change when what `value` computes may change.

    Paths become a name and the hash of their content, objects their class, the hash of its source file and their
    fields; fields whose names begin with `_` are caches and do not count.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Path):
        return {"file": value.name, "sha256": _file_digest(value)}
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((describe(item) for item in value), key=repr)
    if isinstance(value, np.ndarray):
        return {"array": _digest(value.tobytes()), "shape": list(value.shape), "type": str(value.dtype)}
    kind = type(value)
    described: dict[str, Any] = {"class": f"{kind.__module__}.{kind.__qualname__}", "code": _code_digest(kind)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        return described | {name: describe(getattr(value, name)) for name in names}
    try:
        return described | {"pickle": _digest(pickle.dumps(value))}
    except Exception as error:  # whatever a stranger's __reduce__ raises
        raise PluginError(f"{described['class']} cannot be sent to another process: {error}") from error


def of_lists(nbests: Sequence[NBestList], *, around: bool = True) -> str:
    """Hash of all that an extractor can see of the lists; without source and context unless `around`."""
    digest = hashlib.sha256()
    for nbest in nbests:
        beside = [nbest.source, nbest.context] if around else []
        head = [nbest.segment_id, *beside, nbest.feature_names, len(nbest)]
        sparse = [dict(h.sparse) for h in nbest] if any(h.sparse for h in nbest) else []
        text = json.dumps([head, nbest.texts, sparse], ensure_ascii=False, sort_keys=True)
        numbers = [[np.nan if h.score is None else h.score, *h.features] for h in nbest]
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(np.array(numbers, np.float64).tobytes())
    return digest.hexdigest()


def of_plain(value: Any) -> str:
    """Hash of plain values."""
    return _digest(json.dumps(value, ensure_ascii=False, sort_keys=True).encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _file_digest(path: Path) -> str | None:
    """Of a file's content, or of all files in a folder; None where there is nothing (its user will complain)."""
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        return of_plain([[str(file.relative_to(path)), _file_digest(file)] for file in inside])
    try:
        return content_hash(path)
    except OSError:
        return None


def _code_digest(kind: type) -> str:
    try:
        file = inspect.getsourcefile(kind)
        return (_file_digest(Path(file)) or "")[:16] if file else ""
    except (OSError, TypeError):  # made interactively, or compiled
        return ""
