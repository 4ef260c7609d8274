"""Reads and writes a grammar in one file (kit/files/model_file.py), compressed by zstd; opening takes some 10 ms.

Log-probabilities are stored as float32, or as float16 in a compact file (a relative error of at most 0.8 %). After
reading, the rewritings of each symbol are normalised again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import FloatArray, IntArray, ModelError, TrainedOn
from rerank_plugins.constituency.grammar import Grammar
from rerank_plugins.constituency.lexicon import Lexicon
from rerank_plugins.core.errors import DAMAGE
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_file import read_trained_on
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, WordList
from rerank_plugins.kit.trees.dependency_constituents import kind_of_labels
from rerank_plugins.kit.vocabulary.unknown_types import read_unknown_types

EMBEDDED = embedded("grammar.pcfg")
KIND = "grammar"
INCREMENTAL, COUNTED = "hhmm", "reduced"  # the kind of incremental models, and an array that those of events have


def read_or_embedded(model: Path | None, language: str = "") -> Grammar:
    """Read the grammar of a file or, if `model` is None, the embedded one, which is read once in a process.

    Raises ModelError for a file that is missing, truncated, or of another kind or version, and for a grammar that was
    trained for another language than `language`, unless that is empty.
    """
    path = model or EMBEDDED
    grammar = shared_if_embedded(path, read_grammar)
    read_trained_on(path).check_language(language, path)
    return grammar


def write_grammar(grammar: Grammar, path: Path, *, compact: bool = False, kind: str = KIND) -> int:
    """Write the grammar atomically and return the size of the file in bytes; `kind` is that of the file's model.

    Raises OSError.
    """
    return write_packed(path, kind, grammar_settings(grammar), grammar_arrays(grammar, compact=compact), grammar.bases)


def grammar_settings(grammar: Grammar) -> dict[str, Any]:
    """Return the settings of a model file: those of training, and the types that signatures stand for."""
    return {**grammar.settings, "unknown_types": dict(grammar.lexicon.unknown_types)}


def grammar_arrays(grammar: Grammar, *, compact: bool = False) -> model_file.Arrays:
    """Return the grammar's arrays by name, for a model file."""
    lexicon, precision = grammar.lexicon, np.float16 if compact else np.float32
    names = {"symbols": grammar.symbols, "bases": grammar.bases, "words": lexicon.words}
    arrays: model_file.Arrays = {name: model_file.word_array(words) for name, words in names.items()}
    arrays |= {"base": grammar.base, "starts": lexicon.starts, "emitting": lexicon.symbols}
    for column in range(3):  # separate columns compress better
        arrays[f"binary{column}"] = grammar.binary[:, column]
    for column in range(2):
        arrays[f"unary{column}"] = grammar.unary[:, column]
    logs = {"binary_logp": grammar.binary_logp, "unary_logp": grammar.unary_logp, "emission_logp": lexicon.logp}
    arrays |= {name: logp.astype(precision) for name, logp in logs.items()}
    return arrays


def write_packed(
    path: Path, kind: str, settings: Mapping[str, Any], arrays: model_file.Arrays, labels: Iterable[str]
) -> int:
    """Write a compressed model file atomically and return its size in bytes; `settings` name the language, and
    `labels` are those of the trees.

    Raises OSError.
    """
    trained_on = TrainedOn(settings.get("language", ""), labels=kind_of_labels(labels))
    return model_file.write_model(path, kind, settings, arrays, trained_on, compressed=True)


def read_grammar(path: Path) -> Grammar:
    """Read a grammar, also that of an incremental model whose probabilities are computed from it.

    Raises ModelError for a file that is missing, truncated, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND, INCREMENTAL)
    if COUNTED in arrays:
        raise ModelError(f"{path}: holds a {INCREMENTAL} model, wanted a {KIND} model")
    return grammar_from(settings, arrays, path)


LnP = NDArray[np.float32]


@dataclass(frozen=True)
class StoredGrammar:
    """The arrays of a grammar in a file: `binary` and `unary` column by column, others as in Grammar and Lexicon."""

    symbols: Annotated[tuple[str, ...], WordList("S")]
    bases: Annotated[tuple[str, ...], WordList("C")]
    words: Annotated[tuple[str, ...], WordList("W")]
    base: Annotated[IntArray, Array("S", below="C")]
    starts: Annotated[IntArray, Offsets("W", "E")]
    emitting: Annotated[IntArray, Array("E", below="S")]
    binary0: Annotated[IntArray, Array("B", below="S")]
    binary1: Annotated[IntArray, Array("B", below="S")]
    binary2: Annotated[IntArray, Array("B", below="S")]
    unary0: Annotated[IntArray, Array("U", below="S")]
    unary1: Annotated[IntArray, Array("U", below="S")]
    binary_logp: Annotated[LnP, Array("B", values="ln p")]
    unary_logp: Annotated[LnP, Array("U", values="ln p")]
    emission_logp: Annotated[LnP, Array("E", values="ln p")]


STORED = ModelFile(StoredGrammar, KIND, "grammar")


def grammar_from(settings: Mapping[str, Any], arrays: model_file.Arrays, path: Path) -> Grammar:
    """Build the grammar of a model file's arrays. Raises ModelError if they are missing or inconsistent."""
    stored = STORED.from_contents(dict(settings), arrays, str(path))
    try:
        lexicon = Lexicon(
            stored.words, stored.starts, stored.emitting, stored.emission_logp.astype(np.float64),
            unknown_types=read_unknown_types(settings),
        )  # fmt: skip
        grammar = Grammar(
            stored.symbols, stored.bases, stored.base,
            np.stack([stored.binary0, stored.binary1, stored.binary2], axis=1), stored.binary_logp.astype(np.float64),
            np.stack([stored.unary0, stored.unary1], axis=1), stored.unary_logp.astype(np.float64), lexicon,
            {name: value for name, value in settings.items() if name != "unknown_types"}, str(path),
        )  # fmt: skip
        return normalised(grammar)
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged grammar ({type(error).__name__}: {error})") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def normalised(grammar: Grammar) -> Grammar:
    """Return the grammar with probabilities that sum to one for each symbol."""
    totals = grammar.totals()
    totals[totals == 0] = 1.0
    log_total: FloatArray = np.log(totals)
    lexicon = replace(grammar.lexicon, logp=grammar.lexicon.logp - log_total[grammar.lexicon.symbols])
    return replace(
        grammar,
        binary_logp=grammar.binary_logp - log_total[grammar.binary[:, 0]],
        unary_logp=grammar.unary_logp - log_total[grammar.unary[:, 0]],
        lexicon=lexicon,
    )
