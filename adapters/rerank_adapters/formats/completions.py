"""The texts that language models generate for a prompt, as their servers and libraries return them in JSON.

    OpenAI, chat           {"choices": [{"message": {"content": "so it is"}, "logprobs": {"content": […]}}, …]}
    OpenAI, completions    {"choices": [{"text": "so it is", "logprobs": {"token_logprobs": […]}}, …]}
    vLLM, offline          {"request_id": "7", "outputs": [{"text": "so it is", "cumulative_logprob": -3.2}, …]}
    Gemini                 {"candidates": [{"content": {"parts": [{"text": "so it is"}]}, "avgLogprobs": -0.2}, …]}

vLLM and most other servers answer in OpenAI's forms. A file holds one response, or JSON lines; of a line of OpenAI's
batches it is the `body` of the `response`, and the id of the list is `custom_id`. The `id` of a response names a
request and no segment, so that it is not read. vLLM's `request_id` is an id.

ln p of a text, the sum over its tokens, is the total and the feature `logprob` if all texts have it, and Gemini's mean
over the tokens the total and the feature `avg_logprob`. A text that was not generated to its end, or not at all (a
refusal, a filter), has no content: it is an empty hypothesis.
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
from rerank_adapters.formats.record_keys import JsonKeys

KEYS = ("choices", "outputs", "candidates")  # of the texts


@dataclass(frozen=True)
class CompletionsFormat(JsonFormat):
    """Responses of language models with several texts: OpenAI's choices, vLLM's outputs, Gemini's candidates."""

    items: ClassVar[str] = "choices"
    parallel: ClassVar[tuple[str, ...]] = KEYS

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the list of each response of a record: of the record itself, or of the elements of an array."""
        for response in record if isinstance(record, list) and record else [record]:
            body = _body(response)
            key = next((key for key in KEYS if isinstance(body, dict) and are_objects(body.get(key))), None)
            if key is None:
                raise FormatMismatch(f"expected {', '.join(KEYS)} with an object for each text{_failure(response)}")
            items = body[key]
            columns = complete({"logprob": [_logprob(item) for item in items]})
            if key == "candidates":
                columns = complete({"avg_logprob": [number_of(item, "avgLogprobs") for item in items]})
            texts = texts_of([_text(item) for item in items], "a text for each object")
            yield JsonList(response, texts, columns, next(iter(columns.values()), None))

    def own_id(self, record: Any, keys: JsonKeys) -> str:
        """The id of the segment that a response belongs to: not that of the request."""
        if isinstance(record, dict) and not keys.id_key:
            if record.keys() & {"object", "custom_id"}:
                record = {key: value for key, value in record.items() if key != "id"}
            elif "outputs" in record and "id" not in record:
                record = {"id": record.get("request_id"), **record}
        return keys.id_of(record)

    def arranged(self, record: Any, order: Sequence[int]) -> Any:
        """The response with its texts in another order."""
        if isinstance(record, dict) and _body(record) is not record:
            response = record["response"]
            return {**record, "response": {**response, "body": super().arranged(response["body"], order)}}
        return super().arranged(record, order)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A response with choices that have a text alone."""
        return {self.items: [{"text": text} for text in texts]}


def _body(response: Any) -> Any:
    """The response in a line of a batch; any other record itself."""
    inner = response.get("response") if isinstance(response, dict) else None
    return inner["body"] if isinstance(inner, dict) and isinstance(inner.get("body"), dict) else response


def _failure(response: Any) -> str:
    """The end of a message: the reason that a line of a batch gives for a request that failed."""
    errors = (record.get("error") for record in (_body(response), response) if isinstance(record, dict))
    error = next((error for error in errors if error), None)
    message = error.get("message") if isinstance(error, dict) else error
    return f"; the request failed: {' '.join(str(message).split())}" if message else ""


def _text(item: Mapping[str, Any]) -> Any:
    """The text of a choice, an output or a candidate; "" for one without content."""
    holder = item.get("message", item)
    holder = holder if isinstance(holder, dict) else item
    content = holder["text"] if "text" in holder else holder.get("content")
    if isinstance(content, dict):
        content = content.get("parts")
    if are_objects(content):
        return "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return "" if content is None else content


def _logprob(item: Mapping[str, Any]) -> float | None:
    """The sum of ln p of the tokens of a text; None without them."""
    if "cumulative_logprob" in item:
        return number_of(item, "cumulative_logprob")
    logprobs = item.get("logprobs")
    if not isinstance(logprobs, dict):
        return None
    if are_objects(logprobs.get("content")):
        values = [number_of(token, "logprob") for token in logprobs["content"]]
    else:
        values = [number_of({"": value}, "") for value in logprobs.get("token_logprobs") or [None]]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
