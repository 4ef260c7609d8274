"""A noisy channel of phones: confusions by how alike phones are, deletions and insertions (its parameters are fixed).

P(o | p) for o other than p falls exponentially with the number of articulatory features in which they differ. At level
ε a phone is confused with probability ε, deleted with ε/5, and before it a phone is inserted with ε/5.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .pronunciation import Phones

CONSONANTS = {  # manner, place, voice
    "P": "stop lips -", "B": "stop lips +", "T": "stop ridge -", "D": "stop ridge +", "K": "stop velum -",
    "G": "stop velum +", "CH": "affricate palate -", "JH": "affricate palate +", "F": "fricative teeth -",
    "V": "fricative teeth +", "TH": "fricative dental -", "DH": "fricative dental +", "S": "fricative ridge -",
    "Z": "fricative ridge +", "SH": "fricative palate -", "ZH": "fricative palate +", "HH": "fricative glottis -",
    "M": "nasal lips +", "N": "nasal ridge +", "NG": "nasal velum +", "L": "liquid ridge +", "R": "liquid palate +",
    "W": "glide lips +", "Y": "glide palate +",
}  # fmt: skip
VOWELS = {  # height, backness, rounding and gliding
    "IY": "high front plain", "IH": "lax front plain", "EH": "mid front plain", "EY": "mid front glide",
    "AE": "low front plain", "AA": "low back plain", "AO": "mid back round", "OW": "mid back glide",
    "UH": "lax back round", "UW": "high back round", "AH": "mid central plain", "ER": "mid central round",
    "AY": "low front glide", "AW": "low back glide", "OY": "mid back rising",
}  # fmt: skip
PHONES = (*CONSONANTS, *VOWELS)
STEEPNESS = 1.2


@dataclass(frozen=True)
class Channel:
    """The channel at a level of noise, from 0 to 1."""

    level: float

    @property
    def deletion(self) -> float:
        """The probability that a phone is not heard."""
        return self.level / 5

    @property
    def insertion(self) -> float:
        """The probability that a phone is heard before another, or at the end, where there is none."""
        return self.level / 5

    @cached_property
    def confusion(self) -> NDArray[np.float64]:
        """(phones, phones) P(heard | said) of a phone that is not deleted."""
        table = np.zeros((len(PHONES), len(PHONES)))
        for i, said in enumerate(PHONES):
            for j, heard in enumerate(PHONES):
                table[i, j] = 0.0 if i == j else math.exp(-STEEPNESS * _difference(said, heard))
        table *= self.level / table.sum(axis=1, keepdims=True)
        np.fill_diagonal(table, 1 - self.level)
        return table

    def hear(self, phones: Phones, rng: random.Random) -> Phones:
        """What is heard of some phones."""
        heard: list[str] = []
        for phone in (*phones, None):
            while rng.random() < self.insertion:
                heard.append(rng.choice(PHONES))
            if phone is not None and rng.random() >= self.deletion:
                weights = self.confusion[PHONES.index(phone)].tolist()
                heard.append(rng.choices(PHONES, weights)[0])
        return tuple(heard)


def _difference(a: str, b: str) -> float:
    if (a in VOWELS) != (b in VOWELS):
        return 4.0
    table = VOWELS if a in VOWELS else CONSONANTS
    return float(sum(x != y for x, y in zip(table[a].split(), table[b].split(), strict=True)))
