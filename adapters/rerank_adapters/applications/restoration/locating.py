"""Finds the most probable gaps of a sentence that lacks a word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rerank_adapters.applications.restoration.incomplete import Incomplete
from rerank_plugins.core.pickling import PickledFields

if TYPE_CHECKING:
    from rerank_plugins.missing_words.model import Method, MissingWordsModel

COLUMNS = ("sentence", "rank", "position", "before", "after", "ln_p")


class Place(NamedTuple):
    """A gap and ln p of a word missing there, given that one is missing."""

    gap: int
    ln_p: float


@dataclass(frozen=True)
class Locating(PickledFields):
    """The task for a batch of sentences: the `k` most probable gaps of each, the best first (all of them for 0)."""

    path: Path
    method: Method
    k: int

    @cached_property
    def model(self) -> MissingWordsModel:
        """The model, mapped into memory."""
        from rerank_plugins.missing_words.model import read_model

        return read_model(self.path)

    def __call__(self, batch: list[Incomplete]) -> list[list[Place]]:
        """The gaps of each sentence; of gaps of equal probability the earlier comes first."""
        located = self.model.locate([sentence.words for sentence in batch], self.method)
        places = []
        for ln_p in located:
            order = np.argsort(-ln_p, kind="stable")[: self.k or None]
            places.append([Place(gap, value) for gap, value in zip(order.tolist(), ln_p[order].tolist(), strict=True)])
        return places


def as_table(located: Iterable[tuple[Incomplete, list[Place]]]) -> Iterator[str]:
    """A tab-separated line for each gap, header first: the position of the missing word, and its neighbours."""
    yield "\t".join(COLUMNS) + "\n"
    for sentence, places in located:
        for rank, (gap, ln_p) in enumerate(places, 1):
            cells = sentence.id, rank, gap + 2, sentence.words[gap], sentence.words[gap + 1], f"{ln_p:.6g}"
            yield "\t".join(map(str, cells)) + "\n"


def as_json(located: Iterable[tuple[Incomplete, list[Place]]]) -> Iterator[str]:
    """A JSON object on a line for each sentence."""
    for sentence, places in located:
        gaps = [{"position": gap + 2, "ln_p": ln_p} for gap, ln_p in places]
        yield json.dumps({"sentence": sentence.id, "places": gaps}, ensure_ascii=False) + "\n"
