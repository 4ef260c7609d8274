"""Reads scores computed elsewhere for pairs of a hypothesis and a reference, from tab-separated columns.

A line is `hypothesis TAB reference TAB score`. Columns between the reference and the score, such as the source sentence
that `rerank table pairs` writes, are not read. Runs of white space in texts count as one space. A pair may come several
times, as with several sources; its score is then the mean.
"""

from __future__ import annotations

from pathlib import Path

from rerank_plugins.core.errors import FormatError
from rerank_plugins.kit.files.text import display_name, finite, open_text

Pairs = dict[str, dict[str, float]]  # reference -> hypothesis -> score


def plain_text(text: str) -> str:
    """The text with single spaces, as pairs are looked up."""
    return " ".join(text.split())


def read_pairs(path: str | Path) -> Pairs:
    """The scores by reference and hypothesis.

    Raises FormatError, with the line, for fewer than three columns and for a score that is no finite number, and for an
    empty file.
    """
    name = display_name(path)
    scores: Pairs = {}
    times: dict[tuple[str, str], int] = {}  # of the pairs that come more than once
    with open_text(path) as lines:
        for at, line in enumerate(lines, 1):
            columns = line.rstrip("\r\n").split("\t")
            if len(columns) < 3:
                wanted = "wanted `hypothesis TAB reference TAB score`"
                raise FormatError(f"found {len(columns)} tab-separated columns, {wanted}", path=name, line=at)
            hypothesis, reference = plain_text(columns[0]), plain_text(columns[1])
            try:
                score = finite(columns[-1])
            except ValueError as error:
                raise FormatError(f"the score {error}", path=name, line=at) from None
            known = scores.setdefault(reference, {})
            if hypothesis in known:
                number = times[hypothesis, reference] = times.get((hypothesis, reference), 1) + 1
                score = known[hypothesis] + (score - known[hypothesis]) / number  # the running mean
            known[hypothesis] = score
    if not scores:
        raise FormatError("the file is empty, wanted `hypothesis TAB reference TAB score` on each line", path=name)
    return scores
