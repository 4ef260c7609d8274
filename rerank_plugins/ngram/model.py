"""An n-gram model and its file: vocabulary, back-off tables and settings; ARPA files can be read as well."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rerank_plugins import LongArray, ModelError, TrainedOn
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.kit.backoff.packed_tables import PackedTables
from rerank_plugins.kit.backoff.tables import BackoffTables, table_arrays, tables_from
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
from rerank_plugins.ngram.compact_file import MOST_WORDS, compact_arrays, is_compact, tables_of_compact

KIND, FORMER_COMPACT = "ngram", "compact-ngram"  # the latter of earlier compact files, as the embedded English one


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model: vocabulary, tables, and the settings and statistics of its training.

    `stored` are the tables as they are in the file: packed, unless the model is an imported one or of an earlier
    version. `counts` (V) has how often each word occurs in the training text, and at `<s>` and `</s>` the number of
    sentences; None for an ARPA file and a model of an earlier version.
    """

    vocabulary: Vocabulary
    stored: BackoffTables | PackedTables
    settings: dict[str, Any]
    counts: LongArray | None = None

    @property
    def unknown_types(self) -> int:
        """How many types `<unk>` stands for (kit/vocabulary/unknown_types.py); 1 if the file does not record it."""
        return int(self.settings.get("unknown_types", 1))

    @cached_property
    def tables(self) -> BackoffTables:
        """The tables as records; packed ones are unpacked on first use, into twice the memory."""
        if isinstance(self.stored, BackoffTables):
            return self.stored
        from rerank_plugins.kit.backoff.stores import unpack

        return unpack(self.stored)

    def save(self, path: Path, trained_on: TrainedOn | None = None) -> int:
        """Write the model file, and return its size in bytes. Raises OSError."""
        words, hashes = word_array(self.vocabulary.words), self.vocabulary.table
        arrays = {**table_arrays(self.stored), "words": words, "hashes": hashes, **self.count_array}
        return write_model(path, KIND, {**self.settings, "unseen": self.stored.unseen}, arrays, trained_on)

    def save_compact(self, path: Path, bits: int, trained_on: TrainedOn | None = None) -> int:
        """Write a compressed file with values of so many bits, at most 8; return its size in bytes.

        Raises ModelError for a vocabulary of more than 65,536 words, and OSError.
        """
        if len(self.vocabulary) > MOST_WORDS:
            wanted = f"wanted at most {MOST_WORDS:,} in a compact model"
            raise ModelError(f"{path}: {len(self.vocabulary):,} words, {wanted}")
        arrays = {"words": word_array(self.vocabulary.words), **self.count_array, **compact_arrays(self.tables, bits)}
        return write_model(path, KIND, self.settings, arrays, trained_on, compressed=True)

    @property
    def count_array(self) -> Arrays:
        """The counts of words for a model file, where the model has them."""
        return {} if self.counts is None else {"counts": self.counts.astype(np.uint32)}

    @classmethod
    def load(cls, path: Path) -> NgramModel:
        """Map a model file into memory, or read a compact one or an ARPA file (plain, .gz, .bz2 or .xz).

        Raises ModelError.
        """
        if is_model_file(path):
            return cls._mapped(path, KIND)
        return cls._mapped(path, KIND, FORMER_COMPACT) if model_kind(path) else cls._from_arpa(path)

    @classmethod
    def _mapped(cls, path: Path, *kinds: str) -> NgramModel:
        settings, arrays = read_model(path, *kinds)
        if is_compact(arrays):
            return cls._of_compact(settings, arrays, path)
        with refusing_damage(f"{path}: damaged model"):
            layout = PackedTables if "event_bits" in arrays else BackoffTables
            tables = tables_from(layout, arrays, float(settings.get("unseen", 0.0)), str(path))
            if missing := [name for name in ("words", "hashes") if name not in arrays]:
                raise ModelError(f"{path}: damaged model: it has no {', '.join(missing)}")
            vocabulary = Vocabulary(_words_of(arrays), arrays["hashes"])
        size = len(vocabulary)
        if size != tables.sizes[0]:
            raise ModelError(f"{path}: damaged model: {size} words, but {tables.sizes[0]} 1-grams")
        return cls(vocabulary, tables, settings, counts_from(arrays, size, path))

    @classmethod
    def _of_compact(cls, settings: dict[str, Any], arrays: Arrays, path: Path) -> NgramModel:
        try:
            vocabulary = Vocabulary(_words_of(arrays))
            counts = counts_from(arrays, len(vocabulary), path)
            return cls(vocabulary, tables_of_compact(arrays, len(vocabulary)), settings, counts)
        except ContentsError as error:
            raise ModelError(f"{path}: damaged model: {error}") from None
        except DAMAGE as error:
            raise ModelError(f"{path}: damaged model: its arrays do not fit together ({error})") from None

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
    """The words of a model file. Raises ContentsError unless they begin with the special ones."""
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
