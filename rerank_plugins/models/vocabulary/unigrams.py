"""Word frequencies: the embedded English table, or the 1-grams of an ARPA file.

Embedded table: p(word) = c(word) / N, with N all tokens of the corpus. Words seen once are not in the table, and an
unknown word has the relative frequency of a word seen once, 1 / N; so the table and the words seen once together sum to
1 (the share of the unseen is n1 / N, as in Good 1953). ARPA file: its own 1-gram probabilities and `<unk>`.

A bracket that the table lacks is looked up in its other spellings (trees/penn.py); the embedded table has the brackets
themselves. A quotation mark " that is not in the table has p(``) + p(''): it is either. `<s>`, `</s>` and `<unk>` are
marks of the model; as a word of a sentence, each of them is unknown.
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from rerank_plugins.errors import ModelError
from rerank_plugins.models.backoff.arpa_files import DAMAGED, open_arpa
from rerank_plugins.pickling import PickledFields
from rerank_plugins.resources import embedded
from rerank_plugins.trees.penn import DIRECTED, spellings

LN10 = math.log(10.0)
MARKS = frozenset({"<s>", "</s>", "<unk>"})  # entries of the model that are no words of a sentence
UNSEEN = -100.0 * LN10  # ln p of <unk> where a file has none: KenLM's log10 p = -100
Case = Literal["exact", "fallback", "ignore"]


@dataclass(frozen=True)
class UnigramModel(PickledFields):
    """Ln p of words by a table, with `<unk>` and mostly `</s>` in it.

    `case`: exact forms alone; or all casings of a word together, for unknown forms (fallback) or always (ignore).
    """

    table: Mapping[str, float]
    case: Case

    @property
    def unknown(self) -> float:
        """Ln p of an unknown word."""
        return self.table["<unk>"]

    @property
    def end(self) -> float:
        """Ln p(</s>)."""
        return self.table.get("</s>", self.unknown)

    def ln(self, word: str) -> float:
        """Ln p(word) of a word of a sentence."""
        log_probability = self._cache.get(word)
        if log_probability is None:
            known = self.look_up(word)
            log_probability = self._cache[word] = self.unknown if known is None else known
        return log_probability

    def look_up(self, word: str) -> float | None:
        """Ln p(word) of a word of a sentence; None for an unknown one."""
        if word in MARKS:
            return None
        log_probability = self.cased(word)
        if log_probability is None and word == '"':
            either = [ln_p for mark in DIRECTED if (ln_p := self.cased(mark)) is not None]
            return float(np.logaddexp.reduce(either)) if either else None
        others = (ln_p for form in spellings(word) if (ln_p := self.cased(form)) is not None)
        return next(others, None) if log_probability is None else log_probability

    def cased(self, word: str) -> float | None:
        """Ln p(word) of a word in this spelling, in the casings that `case` allows; None for an unknown one."""
        exact = self.table.get(word) if self.case != "ignore" else None
        return self._folded.get(word.lower()) if exact is None and self.case != "exact" else exact

    def frequencies(self) -> dict[str, float]:
        """Relative frequency of each word in lower case."""
        return {word: math.exp(value) for word, value in self._folded.items()}

    @cached_property
    def _cache(self) -> dict[str, float]:
        return {}

    @cached_property
    def _folded(self) -> dict[str, float]:
        """Ln of the summed probability of all casings, by lower-cased form."""
        sums: dict[str, float] = {}
        for word, value in self.table.items():
            if word not in MARKS:
                low = word.lower()
                sums[low] = sums.get(low, 0.0) + math.exp(value)
        return {word: math.log(p) if p > 0 else UNSEEN for word, p in sums.items()}


def read_embedded() -> dict[str, float]:
    """Ln p of the embedded English words, with `</s>` and `<unk>`."""
    header, *lines = lzma.decompress(embedded("unigrams.tsv.xz").read_bytes()).decode().splitlines()
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
