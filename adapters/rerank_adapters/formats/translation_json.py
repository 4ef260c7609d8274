"""Translations as JSON: of CTranslate2, of Sockeye, and of Hugging Face transformers.

CTranslate2's results as JSON: the fields of a TranslationResult (CTranslate2 4), one segment a line.

    {"hypotheses": [["▁the", "▁old", "▁mill"], ["▁an", "▁old", "▁mill"]], "scores": [-0.41, -0.63]}

as `json.dumps({"hypotheses": result.hypotheses, "scores": result.scores})` writes them. A hypothesis is an array of
tokens, whose text is the tokens joined by spaces (the text step `undo-sentencepiece` joins pieces), or a text. The
score, a natural logarithm, normalised by the length penalty of the search, is the total and the feature `score`.

Sockeye's JSON output (`sockeye-translate --output-type json --nbest-size n`, Sockeye 3.1), one segment a line.

    {"sentence_id": 1, "translation": "the old mill", "score": 0.41,
     "translations": ["the old mill", "an old mill"], "scores": [[0.41], [0.63]]}

A line without `translations` has a list of one. Sockeye's score is a negative log probability, normalised for length:
the total and the feature `score` are its negation, a natural logarithm; scores of target factors are not read. Other
keys are kept; `sentence_id`, which counts the sentences from 1, is not an id.

Beams of Hugging Face transformers as JSON (transformers 4), for translation and for Whisper and other recognisers.

    {"sequences": ["so it is", "so is it"], "sequences_scores": [-0.21, -0.34]}
    [{"translation_text": "the old mill"}, {"translation_text": "an old mill"}]

The first form is the output of `generate(num_beams=n, num_return_sequences=n, return_dict_in_generate=True,
output_scores=True)` with the sequences decoded by `batch_decode`. An object may hold one segment, as above, or a batch,
where `n` says how many sequences each segment has. The second form is the output of a pipeline, an array for one
segment or an array of such arrays. `sequences_scores`, the beam search's log probability over length^length_penalty, is
the total and the feature `score`; so is `score` of the second form.

In all three the id of a segment is that of its record (`record_keys.py`), or its place in the file, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import (
    FormatMismatch,
    JsonFormat,
    JsonList,
    complete,
    number_of,
    numbers_of,
    texts_of,
)
from rerank_plugins import option

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
                yield self._pipeline(part, part)
        elif isinstance(record, list):
            yield self._pipeline(record, record)
        elif isinstance(record, dict) and isinstance(record.get(self.items), list):
            if any(isinstance(item, dict) for item in record[self.items]):
                yield self._pipeline(record, record[self.items])
            else:
                yield from self._generated(record)
        else:
            raise FormatMismatch('expected "sequences", or an array of objects with a text')

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with sequences alone."""
        return {self.items: list(texts)}

    def _generated(self, record: dict[str, Any]) -> Iterator[JsonList]:
        texts = texts_of(record[self.items], "a text for each sequence: decode the tokens with batch_decode")
        wanted = f'"{SCORES}" must have a finite number for each sequence'
        scores = numbers_of(record[SCORES], len(texts), wanted) if record.get(SCORES) else None
        size = len(texts) if not self.n or "rerank" in record else self.n
        if len(texts) % size:
            raise FormatMismatch(f"{len(texts)} sequences, expected a multiple of n = {size}")
        for start in range(0, len(texts), size):
            part = slice(start, start + size)
            totals = scores[part] if scores is not None else None
            whole = {self.items: texts[part], **({SCORES: totals} if totals is not None else {})}
            columns = {"score": totals} if totals is not None else {}
            yield JsonList(record if size == len(texts) else whole, texts[part], columns, totals)

    def _pipeline(self, record: Any, items: list[Any]) -> JsonList:
        key = next((key for key in TEXTS if items and isinstance(items[0], dict) and key in items[0]), "")
        texts = [item.get(key) if isinstance(item, dict) else None for item in items]
        columns = complete({"score": [number_of(item, "score") for item in items if isinstance(item, dict)]})
        return JsonList(record, texts_of(texts, f"one of {', '.join(TEXTS)} in each object"), columns,
                        columns.get("score"))  # fmt: skip


@dataclass(frozen=True)
class SockeyeFormat(JsonFormat):
    """Sockeye JSON output: translations with their scores, which are negative log probabilities."""

    items: ClassVar[str] = "translations"
    parallel: ClassVar[tuple[str, ...]] = ("scores", "translations_factors")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a record."""
        if not isinstance(record, dict) or not ("translations" in record or "translation" in record):
            raise FormatMismatch('expected an object with "translations" or "translation"')
        texts = texts_of(record.get("translations", [record.get("translation")]), "a text for each translation")
        costs = record.get("scores", [record["score"]] if "score" in record else [])
        scores = None
        if costs:
            first = [cost[0] if isinstance(cost, list) and cost else cost for cost in costs]
            wanted = '"scores" must have a finite number for each translation'
            scores = [-number for number in numbers_of(first, len(texts), wanted)]
        columns = {"score": scores} if scores is not None else {}
        yield JsonList(record, texts, columns, scores)

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


@dataclass(frozen=True)
class Ctranslate2Format(JsonFormat):
    """CTranslate2 results as JSON: hypotheses, as tokens or texts, with their scores."""

    items: ClassVar[str] = "hypotheses"
    parallel: ClassVar[tuple[str, ...]] = ("scores", "attention", "logits")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a result, or of each result of an array."""
        for result in record if isinstance(record, list) and record else [record]:
            if not isinstance(result, dict) or not isinstance(result.get(self.items), list):
                raise FormatMismatch('expected an object with "hypotheses"')
            texts = [_text(hypothesis) for hypothesis in result[self.items]]
            wanted = '"scores" must have a finite number for each hypothesis'
            scores = numbers_of(result["scores"], len(texts), wanted) if result.get("scores") else None
            columns = {"score": scores} if scores is not None else {}
            yield JsonList(result, texts_of(texts, "tokens or a text for each hypothesis"), columns, scores)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with hypotheses alone."""
        return {self.items: [text.split() for text in texts]}


def _text(hypothesis: Any) -> Any:
    if isinstance(hypothesis, list) and all(isinstance(token, str) for token in hypothesis):
        return " ".join(hypothesis)
    return hypothesis
