"""Word frequencies: the embedded English table, or the 1-grams of an ARPA file.

In the embedded table p(word) = c(word) / N, where N is the number of tokens of the corpus. The n1 words that occur once
are left out, and unknown words have their mass n1 / N (that of unseen words, Good 1953), of which each has the share of
one of T types (unknown_types.py).
`<s>`, `</s>` and `<unk>` are marks of the model; as a word of a sentence, each of them is unknown.
"""

from __future__ import annotations

import lzma
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from rerank_plugins.core.brackets_and_quotes import DIRECTED, spellings
from rerank_plugins.core.errors import DAMAGE, ModelError
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.kit.files.in_use import shared
from rerank_plugins.kit.files.languages import embedded
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.kit.vocabulary.unknown_types import unseen_types

REMEMBERED = 16 * MEGABYTE  # of words and the results of their look-up
EMBEDDED = embedded("unigrams.tsv.xz")
MARKS = frozenset({"<s>", "</s>", "<unk>"})  # entries of a table that are no words of a sentence
Case = Literal["exact", "fallback", "ignore"]


@dataclass(frozen=True)
class UnigramModel(PickledFields):
    """Ln p of words by a table, which has `<unk>` and usually `</s>`.

    `case` chooses the forms that are looked up: exact forms only; or all casings of a word together, for forms that are
    not in the table (fallback) or for all words (ignore).
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
            self._cache.make_room()
            log_probability = self._cache.keep(word, self.unknown if known is None else known)
        return log_probability

    def look_up(self, word: str) -> float | None:
        """Ln p(word) of a word of a sentence; None if it is unknown."""
        if word in MARKS:
            return None
        log_probability = self.cased(word)
        if log_probability is None and word == '"':
            either = [ln_p for mark in DIRECTED if (ln_p := self.cased(mark)) is not None]
            return float(np.logaddexp.reduce(either)) if either else None
        others = (ln_p for form in spellings(word) if (ln_p := self.cased(form)) is not None)
        return next(others, None) if log_probability is None else log_probability

    def cased(self, word: str) -> float | None:
        """Ln p(word) of a word in this spelling, in the casings that `case` allows; None if it is unknown."""
        exact = self.table.get(word) if self.case != "ignore" else None
        return self._folded.get(word.lower()) if exact is None and self.case != "exact" else exact

    def frequencies(self) -> dict[str, float]:
        """The relative frequency of each lower-cased word."""
        return {word: math.exp(value) for word, value in self._folded.items()}

    @cached_property
    def _cache(self) -> Remembered[str, float]:
        return Remembered(REMEMBERED)

    @cached_property
    def _folded(self) -> dict[str, float]:
        """Ln of the sum of p over all casings of a word, by lower-cased form."""
        sums: dict[str, float] = {}
        for word, value in self.table.items():
            if word not in MARKS:
                low = word.lower()
                sums[low] = sums.get(low, 0.0) + math.exp(value)
        return {word: math.log(p) for word, p in sums.items()}


def embedded_unigrams(case: Case) -> UnigramModel:
    """The model of the embedded English words, which is read once in a process."""
    return shared((EMBEDDED, case), lambda: UnigramModel(read_embedded(), case))


def read_embedded(path: Path = EMBEDDED) -> dict[str, float]:
    """Ln p of the embedded English words, with `</s>` and `<unk>`. Raises ModelError for a damaged file."""
    unpacker = lzma.LZMADecompressor()
    try:
        text = unpacker.decompress(path.read_bytes())  # xz has a checksum of its own
    except (OSError, lzma.LZMAError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ModelError(f"{path}: damaged: the file is cut short, or something follows its end")
    try:
        header, *lines = text.decode().splitlines()
        tokens, types, kept = map(int, header.split()[2::2])  # "# tokens N types N kept N"
        counts = {word: int(count) for word, count in (line.split("\t") for line in lines)}
        once = max(types - kept, 1)
        share = once / (once + unseen_types(once, [*counts.values()].count(2)))
        return {word: math.log(n / tokens) for word, n in counts.items()} | {"<unk>": math.log(share / tokens)}
    except DAMAGE as error:
        raise ModelError(f"{path}: damaged ({error})") from None
