"""Recognition hypotheses as JSON lines, in the form of the HyPoradise data: one list per line.

    {"id": "utt-7", "hyps": ["best first", "second", "…"], "ref": "the transcript"}
    [{"input": ["best first", "…"], "output": "the transcript"}, …]            the published files: one array

The published data has no scores: the order of the hypotheses is all that the recogniser tells. Where a line has
`scores` (a total per hypothesis) or `features` (values by name), they are read. A rescored list is the same object with
`hyps` in the new order, with `scores` and `features`, and with `segment`, the id of the list, where it has none. Other
keys are kept. Where lists were merged or changed, the object is written afresh.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.delimited import reordered
from rerank_adapters.formats.json_lists import FormatMismatch, JsonFormat, JsonList, record_line
from rerank_adapters.formats.record_keys import JsonKeys
from rerank_plugins import NBestList, Rescored
from rerank_plugins.core.json_and_toml import read_json
from rerank_plugins.kit.files.text import MAX_SCORE

KEYS = ("hyps", "input")  # the keys that may hold the hypotheses


@dataclass(frozen=True)
class HyporadiseFormat(JsonFormat):
    """HyPoradise JSON lines: a recogniser's hypotheses, best first, with scores and features where a line has them."""

    items: ClassVar[str] = KEYS[0]
    parallel: ClassVar[tuple[str, ...]] = KEYS[1:]

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a record, or that of each record of an array."""
        yield from map(_list, record if isinstance(record, list) and record else [record])

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with hypotheses alone."""
        return {self.items: list(texts)}

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the line of a list, as it was read or, with `rescored`, in its order with its totals and features."""
        raw = "".join(hypothesis.raw for hypothesis in nbest)
        own = self.own_record(nbest, raw)
        record = _changed(raw, nbest.texts) if own is None else own
        if rescored is None:
            yield raw if own is not None else record_line(self.tagged(record, nbest), raw)
            return
        described = self.tagged(self.arranged(record, rescored.order), reordered(nbest, rescored))
        yield record_line({**described, "features": described.get("features", {})}, raw)

    def tagged(self, record: Any, nbest: NBestList) -> dict[str, Any]:
        """The object of a list: a record of its hypotheses with the id, the scores and the features of the list."""
        known = JsonKeys(id_key=self.id_key).id_of(record) == nbest.segment_id
        described = record if known else {**record, "segment": nbest.segment_id}
        if any(hypothesis.score is not None for hypothesis in nbest):
            described = {**described, "scores": [hypothesis.score for hypothesis in nbest]}
        if nbest.feature_names:
            features = {name: [h.features[c] for h in nbest] for c, name in enumerate(nbest.feature_names)}
            described = {**described, "features": features}
        return described


def _list(record: Any) -> JsonList:
    key = next((key for key in KEYS if isinstance(record, dict) and key in record), None)
    texts = record[key] if key else None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise FormatMismatch('expected an object with "hyps" (or "input"), a list of texts')
    features = record.get("features", {})
    columns = features.values() if isinstance(features, dict) else ()
    if not isinstance(features, dict) or not all(_are_numbers(column, len(texts)) for column in columns):
        raise FormatMismatch('"features" must have a number per hypothesis by name, at most 1e15 in size')
    if "scores" in record and not _are_numbers(record["scores"], len(texts)):
        raise FormatMismatch('"scores" must be a number per hypothesis, at most 1e15 in size')
    scores = [float(score) for score in record["scores"]] if "scores" in record else None
    values = {name: [float(value) for value in column] for name, column in features.items()}
    return JsonList(record, list(texts), values, scores)


def _changed(raw: str, texts: Sequence[str]) -> dict[str, Any]:
    """The record that a list was read from with other hypotheses; where it was not read from one, these alone."""
    try:
        record = read_json(raw)
    except ValueError:
        record = {}
    record = record if isinstance(record, dict) else {}
    return {**record, next((key for key in KEYS if key in record), KEYS[0]): list(texts)}


def _are_numbers(values: object, wanted: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == wanted
        and all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) <= MAX_SCORE for v in values)
    )
