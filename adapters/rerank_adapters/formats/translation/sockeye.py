"""Sockeye's JSON output (`sockeye-translate --output-type json --nbest-size n`, Sockeye 3.1), one segment a line.

    {"sentence_id": 1, "translation": "the old mill", "score": 0.41,
     "translations": ["the old mill", "an old mill"], "scores": [[0.41], [0.63]]}

A line without `translations` has a list of one. Sockeye's score is a negative log probability, normalised for length:
the total and the feature `score` are its negation, a natural logarithm; scores of target factors are not read. The id
of a segment is its place in the file, from 0, unless `id_key` names a key. Other keys are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import JsonFormat, JsonList, NotThisFormat, number_of, texts_of
from rerank_plugins.core.interfaces import option


@dataclass(frozen=True)
class SockeyeFormat(JsonFormat):
    """Sockeye JSON output: translations with their scores, which are negative log probabilities."""

    items: ClassVar[str] = "translations"
    parallel: ClassVar[tuple[str, ...]] = ("scores", "translations_factors")
    id_key: str = option("", doc="key that holds the segment's id; default: the place in the file, from 0")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a record."""
        if not isinstance(record, dict) or not ("translations" in record or "translation" in record):
            raise NotThisFormat('expected an object with "translations" or "translation"')
        texts = texts_of(record.get("translations", [record.get("translation")]), "a text for each translation")
        costs = record.get("scores", [record["score"]] if "score" in record else [])
        scores = None
        if costs:
            numbers = [number_of({"": c[0] if isinstance(c, list) and c else c}, "") for c in costs]
            if len(numbers) != len(texts) or None in numbers:
                raise NotThisFormat('"scores" must have a finite number for each translation')
            scores = [-number for number in numbers if number is not None]
        columns = {"score": scores} if scores is not None else {}
        yield JsonList(record, texts, columns, scores, str(record.get(self.id_key, "")) if self.id_key else "")

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with translations alone."""
        return {"translation": texts[0], "translations": list(texts)}

    def arranged(self, record: Any, order: Sequence[int]) -> Any:
        """The record in another order; `translation` and `score` are those of the new first one."""
        record = super().arranged(record, order)
        first = {"translation": record["translations"][0]} if "translations" in record else {}
        if isinstance(record.get("scores"), list) and "score" in record and record["scores"]:
            cost = record["scores"][0]
            first["score"] = cost[0] if isinstance(cost, list) else cost
        return {**record, **first}
