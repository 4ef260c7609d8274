"""The contract of formats of n-best lists."""

from __future__ import annotations

import numpy as np

from rerank_plugins.core.contracts import checked_lists
from rerank_plugins.core.metrics_and_tuners import NBestFormat, Rescored
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.testing.samples import assertions, check_options


@assertions
def check_format(format: NBestFormat, text: str, *, keeps_features: bool = True) -> None:
    """Check that a format keeps its contract on `text`, the content of a sample file of your own.

    - The text has at least one list.
    - A format with the method `write` gives the same text, character by character, when it reads and then writes it.
      Rescored lists that are written to one file and read again have the new order, their segment ids, the new totals
      and, where the format `keeps_features`, the new feature.
    """
    check_options("format", format)
    lines = text.splitlines(keepends=True) if "\u2028" not in text else [text]
    lists = list(checked_lists(format, lambda: format.read(iter(lines), "sample")))
    assert lists, "the sample text must hold at least one list"
    if type(format).write is NBestFormat.write:
        return
    written = "".join(line for nbest in lists for line in format.write(nbest))
    assert written == text, f"reading then writing changed the text:\n{text!r}\n{written!r}"
    rescored = [_reversed_with_feature(nbest) for nbest in lists]
    file = [line for nbest, result in zip(lists, rescored, strict=True) for line in format.write(nbest, result)]
    read_again = list(format.read(iter(file), "sample"))
    assert len(read_again) == len(lists), f"{len(lists)} lists were written, but {len(read_again)} are read"
    for nbest, again, result in zip(lists, read_again, rescored, strict=True):
        order = list(result.order)
        assert again.texts == nbest.select(order).texts, "the new order was not written"
        assert again.segment_id == nbest.segment_id, f"id {nbest.segment_id!r} became {again.segment_id!r}"
        assert [h.score for h in again] == [float(row) for row in order], "the new totals were not written"
        if keeps_features:
            features = [dict(zip(again.feature_names, h.features, strict=True)) | dict(h.sparse) for h in again]
            wanted = [float(result.values[row, 0]) for row in order]
            assert [named.get("NewFeature", 0.0) for named in features] == wanted, "the new feature was not written"


def _reversed_with_feature(nbest: NBestList) -> Rescored:
    """A rescoring that turns the list round and adds a feature."""
    rows = np.arange(float(len(nbest)))
    return Rescored(("NewFeature",), rows[:, None] / 4, rows, list(range(len(nbest)))[::-1])
