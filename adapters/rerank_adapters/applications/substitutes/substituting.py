"""Computes the substitutes of the words of a text for blocks of lines, and writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from rerank_adapters.applications.substitutes.places import positions
from rerank_plugins.core.arrays import FloatArray, IntArray
from rerank_plugins.substitutes.fastsubs import FastSubs

FIRST_BLOCK, BLOCK = 4, 256  # lines at a time: few at first, so that results appear at once
COLUMNS = ("sentence", "position", "word", "rank", "substitute", "ln_p", "share")


class Place(NamedTuple):
    """A word of a text, and its substitutes, best first, with ln p and proportion of the probability of the K best."""

    line: int
    position: int
    word: str
    substitutes: IntArray
    ln_p: FloatArray
    shares: FloatArray


def substitute(
    model: FastSubs, lines: Iterable[str], at: str, k: int, *, least: float = 0.0, jobs: int = 1, path: str = ""
) -> Iterator[list[Place]]:
    """The positions of each line (places.py) with their `k` best substitutes, without those of a `share` below `least`.

    Raises FormatError for a line that lacks the position.
    """
    numbered = enumerate(lines, 1)
    size = FIRST_BLOCK
    while block := [(number, line.split()) for number, line in islice(numbered, size)]:
        size = min(2 * size, BLOCK)
        asked = [positions(words, at, path, number) for number, words in block]
        lengths = np.array([len(words) + 2 for _, words in block])
        starts = np.cumsum(lengths) - lengths + 1
        places = [start + position for start, some in zip(starts.tolist(), asked, strict=True) for position in some]
        tokens = model.encode([words for _, words in block])
        best = model.top_places(tokens, np.array(places, np.int64), k, jobs)
        kept = (best.shares >= least).sum(axis=1)  # shares fall
        row = 0
        for (number, words), some in zip(block, asked, strict=True):
            line = []
            for position in some:
                n = kept[row]
                line.append(
                    Place(
                        number, position, words[position],
                        best.words[row, :n], best.ln_p[row, :n], best.shares[row, :n],
                    )
                )  # fmt: skip
                row += 1
            yield line


def as_table(lines: Iterable[list[Place]], vocabulary: Sequence[str]) -> Iterator[str]:
    """A tab-separated line for each substitute, header first; lines and positions count from 1."""
    yield "\t".join(COLUMNS) + "\n"
    for places in lines:
        for place in places:
            before = f"{place.line}\t{place.position + 1}\t{place.word}\t"
            columns = zip(place.substitutes.tolist(), place.ln_p.tolist(), place.shares.tolist(), strict=True)
            yield "".join(
                f"{before}{rank}\t{vocabulary[word]}\t{ln_p:.6f}\t{share:.6g}\n"
                for rank, (word, ln_p, share) in enumerate(columns, 1)
            )


def as_json(lines: Iterable[list[Place]], vocabulary: Sequence[str]) -> Iterator[str]:
    """A JSON object on a line for each position."""
    for places in lines:
        for place in places:
            columns = zip(place.substitutes.tolist(), place.ln_p.tolist(), place.shares.tolist(), strict=True)
            best = [
                {"word": vocabulary[word], "ln_p": round(ln_p, 6), "share": float(f"{share:.6g}")}
                for word, ln_p, share in columns
            ]
            record = {
                "sentence": place.line,
                "position": place.position + 1,
                "word": place.word,
                "substitutes": best,
            }
            yield json.dumps(record, ensure_ascii=False) + "\n"
