"""The five probability models of structured vectorial semantics in arrays (Wu & Schuler 2011, eq. 5), and their file.

A symbol is a syntactic state `lc`: the category c of a constituent together with its relation l to the constituent
above it, which is ID for a head and MOD with its context for a modifier. A constituent's vector has a number for each
of K concepts, e_γ[i] = P(yield | lc, i), and is composed from those of its children by eq. 4:

    e_γ = P_M(lci_γ → lc_α lc_β) · (P_L(· | i_γ, l_α) e_α) · (P_L(· | i_γ, l_β) e_β)

Files hold logarithms in float32, or in float16 if compact (off by at most 1 %; headwords with less than a 500th of
every concept of a symbol are merged into unk there, which no parse needs), and are normalised when they are read. For
the vector of a word they have the mean over concepts and the number of a row of ratios to it: words of one class share
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from rerank_plugins import BoolArray, FloatArray, IntArray, ModelError
from rerank_plugins.constituency.lexicon import EmittedWords
from rerank_plugins.constituency.model_file import write_packed
from rerank_plugins.core.errors import naming
from rerank_plugins.kit.files import model_file
from rerank_plugins.kit.files.array_values import ContentsError, refusing_damage
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.files.model_schema import Array, ModelFile, Offsets, WordList
from rerank_plugins.kit.vocabulary.signatures import UNKNOWN_SIGNATURE
from rerank_plugins.kit.vocabulary.unknown_types import read_unknown_types

UNK_HEADWORD = "unk"  # stands for all headwords that the model does not keep
KIND = "svs"
EMBEDDED = embedded("vectors.svs")
NAMES = ("symbols", "categories", "relations", "between")
NUMBERS = ("category", "relation", "binary", "unary")
PROBABILITIES = ("binary_p", "unary_p", "transfer", "prior", "root")
LEAST_HEADWORD_P = 0.002  # probability given a concept below which a compact model does not name a headword


@dataclass(frozen=True, eq=False)
class VectorLexicon(EmittedWords):
    """The closed vocabulary; each word has the preterminals that emit it, each with a vector over concepts."""

    p: FloatArray  # (E, K) P(word | preterminal, concept); over the words of a preterminal they sum to one for each


@dataclass(frozen=True, eq=False)
class HeadTable:
    """P_H(headword | lci): the headwords of each concept in a syntactic state."""

    headwords: tuple[str, ...]  # (H) names, the last is `unk`
    starts: IntArray  # (S + 1) int32: the headwords of symbol s are entries starts[s] to starts[s + 1] of the next two
    heads: IntArray  # (N) int32 index into headwords, ascending within a symbol
    p: FloatArray  # (N, K) P_H; over the headwords of one symbol they sum to one for each concept

    def of(self, symbol: int) -> tuple[Sequence[str], FloatArray]:
        """The headwords seen with a symbol, and (n, K) P_H(headword | symbol, concept)."""
        span = slice(self.starts[symbol], self.starts[symbol + 1])
        return [self.headwords[head] for head in self.heads[span]], self.p[span]


@dataclass(frozen=True, eq=False)
class SvsModel:
    """S symbols lc, K concepts i, R relations l. All probabilities are plain, not logarithms.

    For each symbol and concept, P_M of its binary and unary rules and its emissions sum to one. A preterminal has no
    rules. The child of a unary rule is its head; a symbol with unary rules is never the child of one, so there is at
    most one unary rule over a span. It may stand for a chain of the treebank, whose inner phrases are `between`.
    """

    symbols: tuple[str, ...]  # (S) names; symbol 0 is ROOT, whose relation is meaningless
    # (C) labels in the binarised trees, annotated; those added by binarisation begin with "@"
    categories: tuple[str, ...]
    category: IntArray  # (S) int32 index into categories
    relations: tuple[str, ...]  # (R) names: "ID", "MOD:…", and "MOD" for rare ones
    relation: IntArray  # (S) int32 index into relations
    binary: IntArray  # (B, 3) int32 parent, left, right, sorted
    binary_p: FloatArray  # (B, K) P_M(left right | parent, concept of the parent)
    unary: IntArray  # (U, 2) int32 parent, child, sorted
    unary_p: FloatArray  # (U, K) P_M(child | parent, concept of the parent)
    # (U) labels of the treebank that a unary rule passes over, topmost first, joined by "+"; "" for none
    between: tuple[str, ...]
    # (R, K, K) P_L(concept of the child | concept of the parent, relation of the child); rows sum to one
    transfer: FloatArray
    prior: FloatArray  # (S, K) π(lci), eq. 13: sums to one over all symbols and concepts
    root: FloatArray  # (K) a_T, eq. 12: P(concept of the root), sums to one
    lexicon: VectorLexicon  # P(word | lci) of preterminals
    heads: HeadTable  # P_H(headword | lci)
    # of training, and of restoring trees to the treebank's form
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""  # the file that it was read from, which messages about it name

    def __post_init__(self) -> None:
        if UNKNOWN_SIGNATURE not in self.lexicon:
            raise ModelError(f"damaged vectorial-semantics model: words lacks {UNKNOWN_SIGNATURE!r}")
        if len(self.between) != len(self.unary):
            has = f"between has {len(self.between)} chains"
            raise ModelError(f"damaged vectorial-semantics model: {has}, wanted {len(self.unary)}")
        if np.isin(self.unary[:, 1], self.unary[:, 0]).any():
            raise ModelError("damaged vectorial-semantics model: a unary rule's child has unary rules of its own")

    @property
    def concepts(self) -> int:
        """K, the number of concepts."""
        return len(self.root)

    @cached_property
    def preterminals(self) -> BoolArray:
        """(S) whether each symbol emits words."""
        mask = np.zeros(len(self.symbols), np.bool_)
        mask[self.lexicon.symbols] = True
        return mask

    def totals(self) -> FloatArray:
        """(S, K) Σ P over all rewritings of each symbol with each concept, which is 1 in a normalised model."""
        totals = np.zeros((len(self.symbols), self.concepts))
        np.add.at(totals, self.binary[:, 0], self.binary_p)
        np.add.at(totals, self.unary[:, 0], self.unary_p)
        np.add.at(totals, self.lexicon.symbols, self.lexicon.p)
        return totals


def compose(
    rule: FloatArray, left_transfer: FloatArray, left: FloatArray, right_transfer: FloatArray, right: FloatArray
) -> FloatArray:
    """(K) The vector of a constituent from those of its children, eq. 4; `rule` (K) is the diagonal of M.

    A unary rule has the same form without the right child.
    """
    return np.asarray(rule * (left_transfer @ left) * (right_transfer @ right), np.float64)


def write_model(model: SvsModel, path: Path, *, compact: bool = False) -> int:
    """Write the model atomically; return the size of the file in bytes. Raises OSError."""
    precision = np.float16 if compact else np.float32
    lexicon, heads = model.lexicon, _shortened(model.heads) if compact else model.heads
    mean = lexicon.p.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(lexicon.p / mean[:, None])
    rows, row_of = np.unique(np.nan_to_num(ratios, neginf=-np.inf).astype(precision), axis=0, return_inverse=True)
    logs = {name: getattr(model, name) for name in PROBABILITIES} | {"heads_p": heads.p, "word_p": mean}
    names = {name: getattr(model, name) for name in NAMES} | {"words": lexicon.words, "headwords": heads.headwords}
    arrays: model_file.Arrays = {name: model_file.word_array(words) for name, words in names.items()}
    arrays |= {name: np.ascontiguousarray(getattr(model, name).T) for name in NUMBERS}  # columns compress better
    arrays |= {"starts": lexicon.starts, "emitting": lexicon.symbols, "ratios": rows, "ratio_of": row_of.astype("<i4")}
    arrays |= {"head_starts": heads.starts, "heads": heads.heads}
    with np.errstate(divide="ignore"):
        arrays |= {name: np.log(p).astype(precision) for name, p in logs.items()}
    settings = {**model.settings, "unknown_types": dict(lexicon.unknown_types)}
    return write_packed(path, KIND, settings, arrays, model.categories)


Logarithms = NDArray[np.float16]


@dataclass(frozen=True)
class StoredVectors:
    """The arrays of a model in a file: numbers column by column, and the logarithms of probabilities.

    P(word | preterminal, concept) is `word_p` of each emission, the mean over the concepts, times a row of `ratios`.
    """

    symbols: Annotated[tuple[str, ...], WordList("S")]
    categories: Annotated[tuple[str, ...], WordList("C")]
    relations: Annotated[tuple[str, ...], WordList("R")]
    between: Annotated[tuple[str, ...], WordList("*")]
    words: Annotated[tuple[str, ...], WordList("W")]
    headwords: Annotated[tuple[str, ...], WordList("H")]
    category: Annotated[IntArray, Array("S", below="C")]
    relation: Annotated[IntArray, Array("S", below="R")]
    binary: Annotated[IntArray, Array("3", "B", below="S")]
    unary: Annotated[IntArray, Array("2", "U", below="S")]
    root: Annotated[Logarithms, Array("K", values="ln p")]
    prior: Annotated[Logarithms, Array("S", "K", values="ln p")]
    transfer: Annotated[Logarithms, Array("R", "K", "K", values="ln p")]
    binary_p: Annotated[Logarithms, Array("B", "K", values="ln p")]
    unary_p: Annotated[Logarithms, Array("U", "K", values="ln p")]
    starts: Annotated[IntArray, Offsets("W", "E")]
    emitting: Annotated[IntArray, Array("E", below="S")]
    word_p: Annotated[Logarithms, Array("E", values="ln p")]
    ratios: Annotated[Logarithms, Array("D", "K", values="logarithms")]
    ratio_of: Annotated[IntArray, Array("E", below="D")]
    head_starts: Annotated[IntArray, Offsets("S", "N")]
    heads: Annotated[IntArray, Array("N", below="H")]
    heads_p: Annotated[Logarithms, Array("N", "K", values="ln p")]


STORED = ModelFile(StoredVectors, KIND, "model of vectorial semantics")


def read_model(path: Path) -> SvsModel:
    """Read a model.

    Raises ModelError for a file that is missing, cut short, damaged, or of another version or kind.
    """
    settings, arrays = model_file.read_model(path, KIND)
    stored = STORED.from_contents(settings, arrays, str(path))
    with naming(str(path)), refusing_damage(f"{path}: damaged model of vectorial semantics"):
        fields: dict[str, Any] = {name: getattr(stored, name) for name in NAMES}
        fields |= {name: np.ascontiguousarray(getattr(stored, name).T) for name in NUMBERS}
        fields |= {name: _p(getattr(stored, name)) for name in PROBABILITIES}
        if not len(fields["unary"]):
            fields["between"] = ()
        word_p = _p(stored.word_p)[:, None] * _p(stored.ratios)[stored.ratio_of]
        types = read_unknown_types(settings)
        lexicon = VectorLexicon(stored.words, stored.starts, stored.emitting, word_p, unknown_types=types)
        heads = HeadTable(stored.headwords, stored.head_starts, stored.heads, _p(stored.heads_p))
        return normalised(SvsModel(**fields, lexicon=lexicon, heads=heads, settings=settings, path=str(path)))


def read_or_embedded(model: Path | None, language: str = "") -> SvsModel:
    """The model of a file or, if `model` is None, the embedded one, which is read once in a process.

    Raises ModelError as `read_model` does, and for a model of another language than `language`, unless that is empty.
    """
    path = model or EMBEDDED
    stored = shared_if_embedded(path, read_model)
    model_file.read_trained_on(path).check_language(language, path)
    return stored


def normalised(model: SvsModel) -> SvsModel:
    """The model with all distributions normalised to one; those without any mass stay zero.

    Raises ContentsError if the root or all symbols together have no mass.
    """
    for name, p in (("root", model.root), ("prior", model.prior)):
        if not p.sum() > 0:
            raise ContentsError(f"{name} has nothing but probabilities of 0, wanted one above 0")
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
    head = np.where(heads.p.max(axis=1) < LEAST_HEADWORD_P, unk, heads.heads)
    keys, which = np.unique(owner * (unk + 1) + head, return_inverse=True)
    p = np.zeros((len(keys), heads.p.shape[1]))
    np.add.at(p, which.ravel(), heads.p)
    starts = np.searchsorted(keys // (unk + 1), np.arange(size + 1))
    return HeadTable(heads.headwords, starts.astype(np.int32), (keys % (unk + 1)).astype(np.int32), p)


def _p(logarithms: NDArray[Any]) -> FloatArray:
    """Probabilities or ratios of them."""
    return np.asarray(np.exp(logarithms.astype(np.float64)), np.float64)
