"""Reads and writes a model of structured vectorial semantics in one file (model_file.py), compressed with zstd.

Probabilities are stored as logarithms in float32, or in float16 in a compact file. They are normalised when they are
read, so that they sum to one at any precision. Those of a compact model are off by at most 1 %, and its headwords that
have less than a 500th of every concept of a symbol are merged into unk at that symbol (P_H is for inspection only; no
parse needs it). For the vector of a word, the file has the mean over concepts and the number of a row of ratios to the
mean, because words of one class have the same ratios at a preterminal.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins.constituency.model_file import write_packed
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.kit.elementary_functions import log
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.embedded import embedded, shared_if_embedded
from rerank_plugins.svs.concept_lexicon import HeadTable, VectorLexicon
from rerank_plugins.svs.model import SvsModel

KIND = "svs"
EMBEDDED = embedded("vectors.svs")
NAMES = ("symbols", "categories", "relations", "between")
NUMBERS = ("category", "relation", "binary", "unary")
PROBABILITIES = ("binary_p", "unary_p", "transfer", "prior", "root")
LEAST = 0.002  # probability given a concept below which a compact model does not name a headword


def write_model(model: SvsModel, path: Path, *, compact: bool = False) -> int:
    """Write the model atomically; return the size of the file in bytes. Raises OSError."""
    precision = np.float16 if compact else np.float32
    lexicon, heads = model.lexicon, _shortened(model.heads) if compact else model.heads
    mean = lexicon.p.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = log(lexicon.p / mean[:, None])
    rows, row_of = np.unique(np.nan_to_num(ratios, neginf=-np.inf).astype(precision), axis=0, return_inverse=True)
    logs = {name: getattr(model, name) for name in PROBABILITIES} | {"heads_p": heads.p, "word_p": mean}
    names = {name: getattr(model, name) for name in NAMES} | {"words": lexicon.words, "headwords": heads.headwords}
    arrays: model_file.Arrays = {name: model_file.word_array(words) for name, words in names.items()}
    arrays |= {name: np.ascontiguousarray(getattr(model, name).T) for name in NUMBERS}  # columns compress better
    arrays |= {"starts": lexicon.starts, "emitting": lexicon.symbols, "ratios": rows, "ratio_of": row_of.astype("<i4")}
    arrays |= {"head_starts": heads.starts, "heads": heads.heads}
    with np.errstate(divide="ignore"):
        arrays |= {name: log(p).astype(precision) for name, p in logs.items()}
    return write_packed(path, KIND, model.settings, arrays)


def read_model(path: Path) -> SvsModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    try:
        words, headwords, *names = (model_file.words_from(arrays[name]) for name in ("words", "headwords", *NAMES))
        fields: dict[str, Any] = dict(zip(NAMES, names, strict=True))
        fields |= {name: np.ascontiguousarray(arrays[name].T) for name in NUMBERS}
        fields |= {name: _p(arrays[name]) for name in PROBABILITIES}
        if not len(fields["unary"]):
            fields["between"] = ()
        word_p = _p(arrays["word_p"])[:, None] * _p(arrays["ratios"])[arrays["ratio_of"]]
        lexicon = VectorLexicon(words, arrays["starts"], arrays["emitting"], word_p)
        heads = HeadTable(headwords, arrays["head_starts"], arrays["heads"], _p(arrays["heads_p"]))
        return normalised(SvsModel(**fields, lexicon=lexicon, heads=heads, settings=settings))
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged model of vectorial semantics ({type(error).__name__}: {error})") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def read_or_embedded(model: Path | None, language: str = "") -> SvsModel:
    """The model of a file or, if `model` is None, the embedded one, which is read once in a process.

    Raises ModelError as `read_model` does, and for a model of another language than `language`, unless that is empty.
    """
    path = model or EMBEDDED
    stored = shared_if_embedded(path, read_model)
    model_file.read_trained_on(path).check_language(language, path)
    return stored


def normalised(model: SvsModel) -> SvsModel:
    """The model with all distributions normalised to one; those without any mass stay zero."""
    totals = _safe(model.totals())
    lexicon, heads = model.lexicon, model.heads
    owner = np.repeat(np.arange(len(model.symbols)), np.diff(heads.starts))
    head_totals = np.zeros_like(totals)
    np.add.at(head_totals, owner, heads.p)
    return replace(
        model,
        binary_p=model.binary_p / totals[model.binary[:, 0]],
        unary_p=model.unary_p / totals[model.unary[:, 0]],
        lexicon=replace(lexicon, p=lexicon.p / totals[lexicon.symbols]),
        heads=replace(heads, p=heads.p / _safe(head_totals)[owner]),
        transfer=model.transfer / _safe(model.transfer.sum(axis=2, keepdims=True)),
        prior=model.prior / model.prior.sum(),
        root=model.root / model.root.sum(),
    )


def _safe(totals: FloatArray) -> FloatArray:
    return np.asarray(np.where(totals > 0, totals, 1.0), np.float64)


def _shortened(heads: HeadTable) -> HeadTable:
    """The table with headwords that are rare with every concept of a symbol merged into unk at that symbol."""
    size, unk = len(heads.starts) - 1, len(heads.headwords) - 1
    owner = np.repeat(np.arange(size), np.diff(heads.starts))
    head = np.where(heads.p.max(axis=1) < LEAST, unk, heads.heads)
    keys, which = np.unique(owner * (unk + 1) + head, return_inverse=True)
    p = np.zeros((len(keys), heads.p.shape[1]))
    np.add.at(p, which.ravel(), heads.p)
    starts = np.searchsorted(keys // (unk + 1), np.arange(size + 1))
    return HeadTable(heads.headwords, starts.astype(np.int32), (keys % (unk + 1)).astype(np.int32), p)


def _p(logarithms: NDArray[Any]) -> FloatArray:
    """Probabilities or ratios of them. Raises ValueError where they would not be finite."""
    if not (logarithms <= 700).all():
        raise ValueError("a logarithm is above 700 or no number")
    return np.asarray(np.exp(logarithms.astype(np.float64)), np.float64)
