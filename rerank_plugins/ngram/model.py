"""An n-gram model and its file: vocabulary, back-off tables and settings; ARPA files can be read as well."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import LongArray, ModelError, TrainedOn
from rerank_plugins.kit.backoff.order_estimation import first_children, link_events
from rerank_plugins.kit.backoff.tables import BackoffTables, rounded, table_arrays, tables_from
from rerank_plugins.kit.files.array_values import ContentsError, check_values, refusing_damage
from rerank_plugins.kit.files.model_file import (
    Arrays,
    is_model_file,
    model_kind,
    read_model,
    word_array,
    words_from,
    write_model,
)
from rerank_plugins.kit.vocabulary.word_ids import Vocabulary, check_special
from rerank_plugins.ngram.arpa_files import is_kenlm_binary, open_arpa

KIND = "ngram"


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model: vocabulary, tables, and the settings and statistics of its training.

    `counts` (V) has how often each word occurs in the training text, and at `<s>` and `</s>` the number of sentences;
    None for an ARPA file.
    """

    vocabulary: Vocabulary
    tables: BackoffTables
    settings: dict[str, Any]
    counts: LongArray | None = None

    @property
    def unknown_types(self) -> int:
        """How many types `<unk>` stands for (kit/vocabulary/unknown_types.py); 1 if the file does not record it."""
        return int(self.settings.get("unknown_types", 1))

    def save(self, path: Path, trained_on: TrainedOn | None = None, *, compact: bool = False) -> int:
        """Write the model file, and return its size in bytes. Raises OSError.

        A compact file is compressed, has rounded values, and lacks what is found again when it is read: the contexts
        that follow events, and the hash table of the words.
        """
        tables, arrays = self.tables, Arrays(words=word_array(self.vocabulary.words))
        if compact:
            tables = rounded(tables)
            tables.events["next"] = 0
        else:
            arrays["hashes"] = self.vocabulary.table
        if self.counts is not None:
            arrays["counts"] = self.counts.astype(np.uint32)
        settings = {**self.settings, "unseen": tables.unseen}
        return write_model(path, KIND, settings, {**table_arrays(tables), **arrays}, trained_on, compressed=compact)

    @classmethod
    def load(cls, path: Path) -> NgramModel:
        """Map a model file into memory, or read a compact one or an ARPA file (plain, .gz, .bz2 or .xz).

        Raises ModelError.
        """
        is_own = is_model_file(path) or model_kind(path)
        return cls._from_file(path) if is_own else cls._from_arpa(path)

    @classmethod
    def _from_file(cls, path: Path) -> NgramModel:
        settings, arrays = read_model(path, KIND)
        with refusing_damage(f"{path}: damaged model"):
            tables = tables_from(arrays, float(settings.get("unseen", 0.0)), str(path))
            if "hashes" not in arrays:  # a compact file
                link_events(tables.contexts, first_children(tables.contexts), tables.events, tables.context_levels)
            vocabulary = Vocabulary(_words_of(arrays), arrays.get("hashes"))
        size = len(vocabulary)
        if size != tables.sizes[0]:
            raise ModelError(f"{path}: damaged model: {size} words, but {tables.sizes[0]} 1-grams")
        return cls(vocabulary, tables, settings, counts_from(arrays, size, path))

    @classmethod
    def _from_arpa(cls, path: Path) -> NgramModel:
        from rerank_plugins.ngram.arpa_reader import read_arpa
        from rerank_plugins.ngram.arpa_tables import arpa_tables

        if is_kenlm_binary(path):
            raise ModelError(
                f"{path}: KenLM does not list the n-grams of its binaries: give the ARPA file it was built from"
            )
        with open_arpa(path) as stream:
            vocabulary, size, orders = read_arpa(stream, str(path))
            tables = arpa_tables(vocabulary, size, orders, str(path))
        return cls(vocabulary, tables, {"arpa": path.name, "order": tables.order})


def _words_of(arrays: Arrays) -> tuple[str, ...]:
    """The words of a model file. Raises ContentsError if there are none, or others than the special ones first."""
    if "words" not in arrays:
        raise ContentsError("it has no words")
    words = words_from(arrays["words"])
    check_special("words", words)
    return words


def counts_from(arrays: Arrays, size: int, path: Path) -> LongArray | None:
    """The counts of the words of a model file; None if it has none.

    Raises ModelError unless there are `size`, and unless all words but `<unk>` occur.
    """
    counts = arrays.get("counts")
    if counts is None:
        return None
    if counts.shape != (size,):
        raise ModelError(f"{path}: damaged model: {size} words, but counts of shape {counts.shape}")
    try:
        check_values("counts", counts[:1], "not negative")
        check_values("counts after the first", counts[1:], "positive")
    except ContentsError as error:
        raise ModelError(f"{path}: damaged model: {error}") from None
    return counts.astype(np.int64)
