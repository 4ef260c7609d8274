"""The alternatives that speech services return as JSON: Google, Amazon, Azure, Deepgram and those that copy them.

    Google Speech-to-Text v1, v2   {"results": [{"alternatives": [{"transcript": "so it is", "confidence": 0.92}, …]}]}
    Deepgram v1                    {"results": {"channels": [{"alternatives": [{"transcript": …, "confidence": …}]}]}}
    Amazon Transcribe              {"results": {"segments": [{"alternatives": [{"transcript": …, "items": […]}]}]}}
    Azure Speech, detailed         {"NBest": [{"Confidence": 0.92, "Lexical": "so it is", "Display": "So it is."}, …]}
    Vosk, SetMaxAlternatives       {"alternatives": [{"text": " so it is", "confidence": 231.4}, …]}

Every object with `alternatives` that have a transcript, or with `NBest`, is a list, wherever it is nested. A file holds
one response, or JSON lines. The id of a list is that of the object or of the response (`record_keys.py`), or else the
name of the file (of JSON lines: the number of the line, from 0). If a response holds several lists, -1, -2 … is added.

`confidence` (of Amazon the mean over the words) is the total and a feature if every alternative has it. Google gives
one only for the first alternative, which is not read. Vosk's is a log-likelihood. Azure's text is the one that the
option `text` names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import (
    FormatMismatch,
    JsonFormat,
    JsonList,
    are_objects,
    complete,
    number_of,
    texts_of,
)
from rerank_plugins import option


@dataclass(frozen=True)
class AlternativesFormat(JsonFormat):
    """Responses of speech services and of Vosk: Google's and Amazon's alternatives, Azure's NBest, with confidences."""

    items: ClassVar[str] = "alternatives"
    parallel: ClassVar[tuple[str, ...]] = ("NBest",)
    file_is_list: ClassVar[bool] = True
    text: str = option("Lexical", doc="which text of Azure's to read: Lexical, ITN, MaskedITN or Display")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the list of each object with alternatives, in the order of the record."""
        objects = list(_objects(record))
        if not objects:
            raise FormatMismatch('expected "alternatives" with a "transcript" each, or "NBest"')
        for answer in objects:
            yield self._list(answer)

    def arranged(self, record: Any, order: Sequence[int]) -> Any:
        """The response with its alternatives in another order, where it holds one list; otherwise that list."""
        answer = next(_objects(record))
        return super().arranged(answer, order)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """An object with alternatives that have a transcript alone."""
        return {self.items: [{"transcript": text} for text in texts]}

    def _list(self, answer: Mapping[str, Any]) -> JsonList:
        if "NBest" in answer:
            texts = [item.get(self.text) for item in answer["NBest"]]
            confidences = [number_of(item, "Confidence") for item in answer["NBest"]]
        else:
            texts = [item.get(_text_key(item)) for item in answer[self.items]]
            confidences = [_confidence(item) for item in answer[self.items]]
        columns = complete({"confidence": confidences})
        return JsonList(answer, texts_of(texts, "a text for each alternative"), columns, columns.get("confidence"))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects with alternatives in a JSON value, outermost first."""
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
    elif isinstance(value, dict):
        nbest, alternatives = value.get("NBest"), value.get("alternatives", [])
        if are_objects(nbest) or (are_objects(alternatives) and all(_text_key(item) in item for item in alternatives)):
            yield value
        else:
            for inner in value.values():
                yield from _objects(inner)


def _text_key(alternative: Mapping[str, Any]) -> str:
    """The key of an alternative's text: Vosk's is another than that of the services."""
    return "transcript" if "transcript" in alternative else "text"


def _confidence(item: Mapping[str, Any]) -> float | None:
    """The confidence of an alternative; without one, the mean of those of its words."""
    words = item.get("items")
    if "confidence" not in item and isinstance(words, list):
        numbers = [number_of(word, "confidence") for word in words if isinstance(word, dict)]
        known = [number for number in numbers if number is not None]
        return sum(known) / len(known) if known else None
    return number_of(item, "confidence")
