"""Surprisal, entropy and embedding depth of each word of a text, by any language model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from rerank_adapters.text import TextPipeline
from rerank_plugins import LanguageModel
from rerank_plugins.hhmm.language_model import Complexity, EntropyKind, complexity

BLOCK = 8  # sentences measured at a time: few, so that progress shows with a slow model too
COLUMNS = ("surprisal", "entropy", "entropy_reduction", "depth", "depth_difference", "lost", "oov")


class Measured(NamedTuple):
    """A sentence: the number of its line (from 1), its words, their measures, and whether each word is unknown."""

    line: int
    words: tuple[str, ...]
    measures: Complexity
    unknown: tuple[bool, ...]

    def rows(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Each word with its value in each of COLUMNS; `</s>` comes last and has no more than a surprisal.

        `oov` is 1 for an unknown word, else 0; what the model does not define is nan.
        """
        m = self.measures
        columns = (m.surprisal[:-1], m.entropy[1:], m.reduction, m.depth[1:], m.difference, m.lost)
        for word, *values in zip(self.words, *(column.tolist() for column in columns), self.unknown, strict=True):
            yield word, dict(zip(COLUMNS, values, strict=True))
        yield "</s>", {**dict.fromkeys(COLUMNS, math.nan), "surprisal": float(m.surprisal[-1]), "oov": 0}


def measure(model: LanguageModel, lines: Iterable[str], entropy: EntropyKind, text: TextPipeline) -> Iterator[Measured]:
    """The measures of each line after the text steps, in order; an empty line consists of `</s>` alone."""
    lines, number = iter(lines), 0
    while block := text.apply([line.rstrip("\r\n") for line in islice(lines, BLOCK)]):
        sentences = [tuple(line.split()) for line in block]
        for words, measured in zip(sentences, complexity(model, sentences, entropy), strict=True):
            number += 1
            yield Measured(number, words, measured, tuple(word not in model for word in words))


def as_table(measured: Iterable[Measured]) -> Iterator[str]:
    """A tab-separated line for each word, header first; cells of measures that the model does not define are empty."""
    measured = iter(measured)
    first = list(islice(measured, 1))  # before the header is written: if the model cannot be read, nothing is
    yield "\t".join(("sentence", "position", "word", *COLUMNS)) + "\n"
    for sentence in chain(first, measured):
        for position, (word, values) in enumerate(sentence.rows(), 1):
            cells = ("" if math.isnan(value) else f"{value:.6g}" for value in values.values())
            yield "\t".join((str(sentence.line), str(position), word, *cells)) + "\n"


def as_json(measured: Iterable[Measured]) -> Iterator[str]:
    """A JSON object on a line for each sentence: its line number, and its words with the measures that are defined."""
    for sentence in measured:
        words = [
            {"word": word, **{name: value for name, value in values.items() if not math.isnan(value)}}
            for word, values in sentence.rows()
        ]
        yield json.dumps({"sentence": sentence.line, "words": words}, ensure_ascii=False) + "\n"
