"""The weights of a decoder, read from the `[weight]` section of a Moses configuration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Weights:
    """One weight per feature value, in the order of an n-best list: Moses's names, Moses's signs.

    Distortion0 is minus the words jumped over, LM0 a natural log, WordPenalty0 minus the words, PhrasePenalty0 the
    number of phrases, TranslationModel0 four natural logs; SyntacticLM0, where there is one, a natural log.
    """

    SINGLE: ClassVar = ("Distortion0", "LM0", "WordPenalty0", "PhrasePenalty0")

    distortion: float
    language_model: float
    word_penalty: float
    phrase_penalty: float
    translation: tuple[float, float, float, float]
    syntactic: float | None = None

    @classmethod
    def read(cls, lines: Iterable[str]) -> Weights:
        """From the lines of a moses.ini."""
        values: dict[str, list[float]] = {}
        section = ""
        for line in (line.strip() for line in lines):
            if line.startswith("["):
                section = line
            elif section == "[weight]" and line and not line.startswith("#"):
                name, _, numbers = line.partition("=")
                values[name] = [float(number) for number in numbers.split()]
        a, b, c, d = values["TranslationModel0"]
        (distortion,), (lm,), (words,), (phrases,) = (values[name] for name in cls.SINGLE)
        return cls(distortion, lm, words, phrases, (a, b, c, d), *values.get("SyntacticLM0", ()))

    def phrase(self, target: Sequence[str], scores: Sequence[float]) -> float:
        """The part of a phrase's score that depends on the phrase alone."""
        penalties = -self.word_penalty * len(target) + self.phrase_penalty
        return penalties + math.fsum(weight * score for weight, score in zip(self.translation, scores, strict=True))

    def total(self, features: Sequence[float]) -> float:
        """Weights times features; exact to six decimals where weights have two and features four."""
        weights = [self.distortion, self.language_model, self.word_penalty, self.phrase_penalty, *self.translation]
        weights += [] if self.syntactic is None else [self.syntactic]
        return round(math.fsum(w * value for w, value in zip(weights, features, strict=True)), 6)
