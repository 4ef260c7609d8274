"""Files of sorted queues, kept in the program's cache beside the parses, so that each model is sorted once.

A file is named after the SHA-256 of the model file and the version of the queues, and has the form of a model file
(kit/files/model_file.py): it is mapped into memory, checked, and written completely or not at all.
"""

from __future__ import annotations

import logging
from pathlib import Path

from rerank_plugins.core.errors import ModelError
from rerank_plugins.core.paths import cache_folder, content_hash
from rerank_plugins.kit.backoff.tables import BackoffTables
from rerank_plugins.kit.files.model_file import read_model, write_model
from rerank_plugins.substitutes.queues import Queues

KIND = "substitute-queues"
FOLDER = "queues"
FORM = 2  # of the queues: a change of what they hold needs another number

logger = logging.getLogger(__name__)


def queue_file(model: Path) -> Path | None:
    """Where the queues of a model file are kept; None if the user wants no cache. Raises OSError."""
    folder = cache_folder()
    return folder / FOLDER / f"{content_hash(model)[:32]}-{FORM}.queues" if folder else None


def queues_of(model: Path, tables: BackoffTables) -> Queues:
    """The queues of a model file with these tables, from the cache if they are there; otherwise sorted, and kept there.

    A damaged file is sorted again. A cache that cannot be written is reported in the log, and does no harm otherwise.
    """
    path = queue_file(model)
    if path is not None and path.exists():
        try:
            return _mapped(path, tables)
        except ModelError as error:
            logger.warning("%s; the queues are sorted again", error)
    queues = Queues.build(tables)
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_model(path, KIND, {"model": model.name}, {name: getattr(queues, name) for name in Queues.names()})
        except OSError as error:
            logger.warning("%s: the sorted queues cannot be kept (%s)", path, error.strerror)
    return queues


def _mapped(path: Path, tables: BackoffTables) -> Queues:
    _, arrays = read_model(path, KIND)
    seen = len(tables.events) - tables.sizes[0]
    if missing := [name for name in Queues.names() if name not in arrays]:
        raise ModelError(f"{path}: damaged queues: there is no {', '.join(missing)}")
    queues = Queues(**{name: arrays[name] for name in Queues.names()})
    if len(queues.base_words) != tables.sizes[0] or not len(queues.left_words) == len(queues.right_words) == seen:
        raise ModelError(f"{path}: damaged queues: they do not fit the model")
    return queues
