"""Beams of Hugging Face transformers as JSON (transformers 4), for translation and for Whisper and other recognisers.

    {"sequences": ["so it is", "so is it"], "sequences_scores": [-0.21, -0.34]}
    [{"translation_text": "the old mill"}, {"translation_text": "an old mill"}]

The first form is the output of `generate(num_beams=n, num_return_sequences=n, return_dict_in_generate=True,
output_scores=True)` with the sequences decoded by `batch_decode`. An object may hold one segment, as above, or a batch,
where `n` says how many sequences each segment has. The second form is the output of a pipeline, an array for one
segment or an array of such arrays. `sequences_scores`, the beam search's log probability over length^length_penalty, is
the total and the feature `score`; so is `score` of the second form. The id of a segment is `id`, or its place in the
file, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import JsonFormat, JsonList, NotThisFormat, complete, number_of, texts_of
from rerank_plugins.core.interfaces import option

TEXTS = ("translation_text", "generated_text", "summary_text", "text")
SCORES = "sequences_scores"


@dataclass(frozen=True)
class TransformersFormat(JsonFormat):
    """transformers output as JSON: sequences with sequences_scores, or the texts of a pipeline."""

    items: ClassVar[str] = "sequences"
    parallel: ClassVar[tuple[str, ...]] = (SCORES,)
    n: int = option(0, doc="sequences of each segment (num_return_sequences), where an object holds a batch")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the list of each segment of a record."""
        if isinstance(record, list) and record and all(isinstance(part, list) for part in record):
            for part in record:
                yield self._pipeline(part, part, "")
        elif isinstance(record, list):
            yield self._pipeline(record, record, "")
        elif isinstance(record, dict) and isinstance(record.get(self.items), list):
            id_ = str(record.get("id", ""))
            if any(isinstance(item, dict) for item in record[self.items]):
                yield self._pipeline(record, record[self.items], id_)
            else:
                yield from self._generated(record, id_)
        else:
            raise NotThisFormat('expected "sequences", or an array of objects with a text')

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with sequences alone."""
        return {self.items: list(texts)}

    def _generated(self, record: dict[str, Any], id_: str) -> Iterator[JsonList]:
        texts = texts_of(record[self.items], "a text for each sequence: decode the tokens with batch_decode")
        scores: list[float] | None = None
        if record.get(SCORES):
            numbers = [number_of({"": score}, "") for score in record[SCORES]]
            if len(numbers) != len(texts) or None in numbers:
                raise NotThisFormat(f'"{SCORES}" must have a finite number for each sequence')
            scores = [number for number in numbers if number is not None]
        size = len(texts) if not self.n or "rerank" in record else self.n
        if len(texts) % size:
            raise NotThisFormat(f"{len(texts)} sequences, expected a multiple of n = {size}")
        for start in range(0, len(texts), size):
            part = slice(start, start + size)
            totals = scores[part] if scores is not None else None
            whole = {self.items: texts[part], **({SCORES: totals} if totals is not None else {})}
            columns = {"score": totals} if totals is not None else {}
            yield JsonList(record if size == len(texts) else whole, texts[part], columns, totals, id_)

    def _pipeline(self, record: Any, items: list[Any], id_: str) -> JsonList:
        key = next((key for key in TEXTS if items and isinstance(items[0], dict) and key in items[0]), "")
        texts = [item.get(key) if isinstance(item, dict) else None for item in items]
        columns = complete({"score": [number_of(item, "score") for item in items if isinstance(item, dict)]})
        return JsonList(record, texts_of(texts, f"one of {', '.join(TEXTS)} in each object"), columns,
                        columns.get("score"), id_)  # fmt: skip
