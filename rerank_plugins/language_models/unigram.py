"""Word frequencies as a language model: from the embedded English table, or the 1-grams of an n-gram model.

Embedded table: p(word) = c(word) / N, with N all tokens of the corpus. Words seen once are not in the table, and an
unknown word has the relative frequency of a word seen once, 1 / N; so table and words seen once together sum to 1
(the share of the unseen is n1 / N, as in Good 1953). From a model file: its own 1-gram probabilities and `<unk>`.
Loading reads the table (55,503 words, 0.05 s) or the file up to its 2-grams; a query is a dictionary look-up.

A bracket that the table or file lacks is looked up in its other spellings (trees/penn.py); the embedded table has the
brackets themselves. A quotation mark " that is not there has p(``) + p(''): it is either. `<s>`, `</s>` and `<unk>` are
marks of the model; as a word of a sentence each of them is unknown.
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Literal

import numpy as np

from rerank_plugins.errors import ModelError
from rerank_plugins.feature_table import FloatArray
from rerank_plugins.interfaces import LanguageModel, Sentence, option
from rerank_plugins.language_models.kenlm_wrapper import LN10, KenlmLanguageModel
from rerank_plugins.models.backoff.arpa_files import DAMAGED, is_kenlm_binary, open_arpa
from rerank_plugins.pickling import PickledFields
from rerank_plugins.trees.penn import DIRECTED, spellings

MARKS = frozenset({"<s>", "</s>", "<unk>"})  # entries of the model that are no words of a sentence
EMBEDDED = Path(str(files("rerank_plugins") / "resources/en/unigrams.tsv.xz"))
UNSEEN = -100.0 * LN10  # of <unk> where a file has none: KenLM's log10 p = -100


@dataclass(frozen=True)
class UnigramLanguageModel(LanguageModel, PickledFields):
    """Unigram model: embedded English word frequencies, or the 1-grams of an ARPA file or KenLM binary.

    Natural logs. Raises ModelError for a file that is missing, cut short or of another kind.
    """

    model: Path | None = option(None, doc="ARPA file or KenLM binary; none: embedded English word frequencies")
    case: Literal["exact", "fallback", "ignore"] = option(
        "fallback",
        doc="exact forms; or all casings of a word together, for unknown forms (fallback) or always (ignore)",
    )

    def __contains__(self, word: str) -> bool:
        return self._look_up(word) is not None

    def score(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """Ln p of each word, `</s>` last."""
        ln, last = self.ln, self._last
        return [np.array([*map(ln, sentence), last]) for sentence in sentences]

    def unigram_scores(self, sentences: Sequence[Sentence]) -> list[FloatArray]:
        """What `score` gives."""
        return self.score(sentences)

    def ln(self, word: str) -> float:
        """Ln p(word) of a word of a sentence."""
        found = self._cache.get(word)
        if found is None:
            found = self._cache[word] = self._unigram(word)
        return found

    def frequencies(self) -> dict[str, float]:
        """Relative frequency of each word in lower case. Raises ModelError for a KenLM binary: it cannot list words."""
        if self._binary:
            raise ModelError(f"{self.model}: a KenLM binary cannot list its words: give the ARPA file it was made from")
        return {word: math.exp(value) for word, value in self._folded.items()}

    @property
    def _last(self) -> float:
        """Ln p(</s>)."""
        if self._binary:
            return self._binary.unigram("</s>")
        return self._table.get("</s>", self._table["<unk>"])

    def _unigram(self, word: str) -> float:
        found = self._look_up(word)
        if found is None:
            return self._binary.unigram("<unk>") if self._binary else self._table["<unk>"]
        return found

    def _look_up(self, word: str) -> float | None:
        """Ln p of a word of a sentence; None for an unknown one."""
        if word in MARKS:
            return None
        found = self._cased(word)
        if found is None and word == '"':
            either = [ln_p for mark in DIRECTED if (ln_p := self._cased(mark)) is not None]
            return float(np.logaddexp.reduce(either)) if either else None
        others = (ln_p for form in spellings(word) if (ln_p := self._cased(form)) is not None)
        return next(others, None) if found is None else found

    def _cased(self, word: str) -> float | None:
        """Ln p of a word in this spelling, in the casings that `case` allows; None for an unknown one."""
        if self._binary:
            known = (form for form in self._forms(word) if form in self._binary)
            return next(map(self._binary.unigram, known), None)
        exact = self._table.get(word) if self.case != "ignore" else None
        return self._folded.get(word.lower()) if exact is None and self.case != "exact" else exact

    def _forms(self, word: str) -> tuple[str, ...]:
        """Casings to try in a binary, which cannot list its words: the first that is known is taken."""
        return (word,) if self.case == "exact" else (word, word.lower(), word.capitalize(), word.upper())

    @cached_property
    def _cache(self) -> dict[str, float]:
        return {}

    @cached_property
    def _binary(self) -> KenlmLanguageModel | None:
        if self.model is None:
            return None
        try:
            return KenlmLanguageModel(self.model) if is_kenlm_binary(self.model) else None
        except OSError as error:
            raise ModelError(f"{self.model}: cannot be read ({error.strerror})") from None

    @cached_property
    def _table(self) -> dict[str, float]:
        return read_embedded() if self.model is None else read_arpa_unigrams(self.model)

    @cached_property
    def _folded(self) -> dict[str, float]:
        """Ln of the summed probability of all casings, by lower-cased form."""
        sums: dict[str, float] = {}
        for word, value in self._table.items():
            if word not in MARKS:
                low = word.lower()
                sums[low] = sums.get(low, 0.0) + math.exp(value)
        return {word: math.log(p) if p > 0 else UNSEEN for word, p in sums.items()}


def read_embedded(path: Path = EMBEDDED) -> dict[str, float]:
    """Ln p of the embedded English words, with `</s>` and `<unk>`. Raises ModelError where the file is damaged."""
    unpacker = lzma.LZMADecompressor()
    try:
        text = unpacker.decompress(path.read_bytes())  # xz has its own checksum
    except (OSError, lzma.LZMAError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ModelError(f"{path}: damaged: cut short, or added to")
    header, *lines = text.decode().splitlines()
    tokens = int(header.split()[2])  # "# tokens N ..."
    counts = (line.split("\t") for line in lines)
    return {word: math.log(int(count) / tokens) for word, count in counts} | {"<unk>": math.log(1 / tokens)}


def read_arpa_unigrams(path: Path) -> dict[str, float]:
    """Ln p of the 1-grams of an ARPA file, plain or compressed; nothing after them is read.

    Raises ModelError naming the line for a file that is not ARPA, is cut short, or has not the 1-grams it promises.
    """
    table: dict[str, float] = {}
    promised, inside, number = -1, False, 0
    for number, line in enumerate(_lines(path), 1):
        if inside and line.startswith("\\"):
            if len(table) != promised:
                raise ModelError(f"{path}:{number}: {len(table)} 1-grams found, {promised} promised in the header")
            return {"<unk>": UNSEEN} | table
        if line.startswith("ngram 1="):
            promised = int(line[8:]) if line[8:].isdigit() else -1
        elif line == "\\1-grams:" and promised >= 0:
            inside = True
        elif inside and line:
            parts = line.split()
            try:
                table[parts[1]] = LN10 * _log10(parts[0])
            except (IndexError, ValueError):
                raise ModelError(f"{path}:{number}: expected 'log10 word [back-off]', found {line!r}") from None
    raise ModelError(f"{path}:{number}: not an ARPA file, or cut short: its 1-grams do not end")


def _log10(text: str) -> float:
    """A log10 probability: at least -100, as KenLM's for what is impossible."""
    value = float(text)
    if not value <= 0:
        raise ValueError(text)
    return max(value, -100.0)


def _lines(path: Path) -> Iterator[str]:
    try:
        with open_arpa(path) as stream:
            yield from (line.decode().strip() for line in stream)
    except (*DAMAGED, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: cannot be read as an ARPA file ({error})") from None
