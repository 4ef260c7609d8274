"""Recognition hypotheses as JSON lines, in the form of the HyPoradise data: one list per line.

    {"id": "utt-7", "hyps": ["best first", "second", "…"], "ref": "the transcript"}
    {"input": ["best first", "…"], "output": "the transcript"}

The published data has no scores: the order of the hypotheses is all that the recogniser tells. Where a line has
`scores` (a total per hypothesis) or `features` (values by name), they are read. The id of a segment is the number of
its line, from 0, so that a reference file has one line per utterance, or the value of `segment` where the line has
one; with `id_key = "id"` it is the utterance's own id, which is matched with references that have ids. A rescored list
is the same object with `hyps` in the new order, and with `segment`, `scores` and `features`. Other keys are kept.
Where lists were merged or texts were changed, the object is written afresh.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from rerank_adapters.formats.delimited import reordered
from rerank_plugins import FormatError, Hypothesis, NBestFormat, NBestList, Rescored, option
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.core.nbest import NO_SPARSE

KEYS = ("hyps", "input")  # the keys that may hold the hypotheses


@dataclass(frozen=True)
class HyporadiseFormat(NBestFormat):
    """HyPoradise JSON lines: a recogniser's hypotheses, best first, with scores and features where a line has them."""

    id_key: str = option("segment", doc="key that holds the segment's id; a line without it has its number as id")

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """Yield one list per line. Raises FormatError with the path and the line."""
        names: tuple[str, ...] | None = None
        for number, line in enumerate(lines, 1):
            nbest = _list(line, path, number, self.id_key)
            names = nbest.feature_names if names is None else names
            if nbest.feature_names != names:
                raise FormatError("the features of this line differ from those of line 1", path=path, line=number)
            yield nbest

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the line of a list, as it was read or, with `rescored`, in its order with its totals and features."""
        raw = "".join(hypothesis.raw for hypothesis in nbest)
        record = _object(raw)
        key = next((key for key in KEYS if key in record), KEYS[0])
        if rescored is None:
            yield raw if record.get(key) == nbest.texts else _line(self._described(nbest, record, key), raw)
            return
        described = self._described(reordered(nbest, rescored), record, key)
        yield _line({**described, "features": described.get("features", {})}, raw)

    def _described(self, nbest: NBestList, record: dict[str, Any], key: str) -> dict[str, Any]:
        """The object of a list: `record` with the id, the texts, the scores and the features of the list."""
        described = {**record, self.id_key: nbest.segment_id, key: nbest.texts}
        if any(hypothesis.score is not None for hypothesis in nbest):
            described["scores"] = [hypothesis.score for hypothesis in nbest]
        if nbest.feature_names:
            described["features"] = {name: [h.features[c] for h in nbest] for c, name in enumerate(nbest.feature_names)}
        return described


def _line(described: dict[str, Any], raw: str) -> str:
    end = "\r\n" if raw.endswith("\r\n") else "\n" if raw.endswith("\n") or not raw else ""
    return json.dumps(described, ensure_ascii=False) + end


def _object(line: str) -> dict[str, Any]:
    try:
        record = read_json(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _list(line: str, path: str, number: int, id_key: str) -> NBestList:
    try:
        record = read_json(line)
    except ValueError as error:
        raise FormatError(f"not JSON ({error})", path=path, line=number) from None
    key = next((key for key in KEYS if isinstance(record, dict) and key in record), None)
    texts = record[key] if key else None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise FormatError('expected an object with "hyps" (or "input"), a list of texts', path=path, line=number)
    scores = record.get("scores", [None] * len(texts))
    features = record.get("features", {})
    columns = features.values() if isinstance(features, dict) else ()
    if not isinstance(features, dict) or not all(_are_numbers(column, len(texts)) for column in columns):
        raise FormatError('"features" must have a number per hypothesis by name', path=path, line=number)
    if "scores" in record and not _are_numbers(scores, len(texts)):
        raise FormatError('"scores" must be a number per hypothesis', path=path, line=number)
    rows = list(zip(*columns, strict=True)) or [()] * len(texts)
    hypotheses = [
        Hypothesis(text, tuple(map(float, row)), None if score is None else float(score), NO_SPARSE, "")
        for text, row, score in zip(texts, rows, scores, strict=True)
    ]
    hypotheses[0] = hypotheses[0]._replace(raw=line)
    return NBestList(str(record.get(id_key, number - 1)), tuple(hypotheses), tuple(features), line=number)


def _are_numbers(values: object, wanted: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == wanted
        and all(isinstance(v, int | float) and not isinstance(v, bool) and isfinite(v) for v in values)
    )
