"""The formats in JSON, each with the program that writes it: the shape of its records is all that they are.

HyPoradise: a recogniser's hypotheses, a list a line, or the published files, an array of such records without ids.

    {"id": "utt-7", "hyps": ["best first", "second"], "ref": "the transcript", "scores": […], "features": {"lm": […]}}
    [{"input": ["best first", "second"], "output": "the transcript"}, …]

CTranslate2 4: `json.dumps({"hypotheses": result.hypotheses, "scores": result.scores})` of a TranslationResult. A
hypothesis is tokens, which are joined by spaces, or a text. The score is ln p, normalised by the length penalty.

    {"hypotheses": [["▁the", "▁old", "▁mill"], ["▁an", "▁old", "▁mill"]], "scores": [-0.41, -0.63]}

Sockeye 3.1 (`sockeye-translate --output-type json --nbest-size n`). The scores are −ln p, normalised for length; those
of target factors are not read. A line without `translations` has a list of one.

    {"sentence_id": 1, "translation": "the old mill", "score": 0.41,
     "translations": ["the old mill", "an old mill"], "scores": [[0.41], [0.63]]}

Hugging Face transformers 4: sequences that `generate(num_beams=n, num_return_sequences=n, …)` returned, decoded by
`batch_decode`, of one segment or of a batch; or the output of a pipeline, an array for one segment, or several of them.

    {"sequences": ["so it is", "so is it"], "sequences_scores": [-0.21, -0.34]}
    [{"translation_text": "the old mill"}, {"translation_text": "an old mill"}]

Language models: OpenAI's choices of chats and completions, which most servers copy, and its batches, whose responses
stand in `response.body` beside `custom_id`; vLLM's outputs; Gemini's candidates. The `id` of a response names a request
and no segment. ln p of the tokens of a text, their sum, is the feature `logprob`, Gemini's mean `avg_logprob`. A text
that was not generated to its end, or refused, has no content: it is an empty hypothesis.

    {"choices": [{"message": {"content": "so it is"}, "logprobs": {"content": [{"logprob": -0.2}, …]}}, …]}
    {"choices": [{"text": "so it is", "logprobs": {"token_logprobs": […]}}, …]}
    {"request_id": "7", "outputs": [{"text": "so it is", "cumulative_logprob": -3.2}, …]}
    {"candidates": [{"content": {"parts": [{"text": "so it is"}]}, "avgLogprobs": -0.2}, …]}

Speech services: Google v1 and v2, Deepgram v1, Amazon Transcribe (whose confidence is the mean of its words'), Azure's
detailed output, and Vosk's SetMaxAlternatives, whose confidence is a log-likelihood. Each object with alternatives,
wherever it is nested, is a list.

    {"results": [{"alternatives": [{"transcript": "so it is", "confidence": 0.92}, …]}]}
    {"NBest": [{"Confidence": 0.92, "Lexical": "so it is", "Display": "So it is."}, …]}

Whisper (openai-whisper 20231117, faster-whisper; WhisperX and whisper.cpp without its numbers) writes its best
transcription only. So a list is an array of results, or such an array under `hypotheses`, or the results of several
files of one name, which `rerank` merges. `logprob` is ln p of the tokens, Σ avg_logprob · (tokens + 1) over the
segments, and the other features are means over these, weighted by their tokens. The total is the mean `avg_logprob`, by
which Whisper itself ranks. A result without segments, in which Whisper heard silence, is an empty hypothesis with the
numbers at which Whisper decides so.

    {"text": " So it is.", "segments": [{"text": " So it is.", "avg_logprob": -0.21, "no_speech_prob": 0.01,
     "temperature": 0.0, "compression_ratio": 0.9, "tokens": […]}, …]}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.record_lists import RecordsFormat
from rerank_adapters.formats.records import found
from rerank_adapters.formats.shapes import Columns, Shape, mean, number, of_all, real
from rerank_plugins import option

PIPELINE_TEXTS = ("translation_text", "generated_text", "summary_text", "text")
MEANS = ("avg_logprob", "no_speech_prob", "compression_ratio", "temperature")  # of Whisper's segments
SILENCE = {"logprob": -1.0, "avg_logprob": -1.0, "no_speech_prob": 0.6, "compression_ratio": 0.0, "temperature": 0.0}
RESPONSES = ("choices", "outputs", "candidates")  # the keys of the texts of a language model


def own_features(holder: Mapping[str, Any], array: Sequence[Any]) -> Columns:
    """The features that a record has by name. Raises ValueError where one has not a number for each hypothesis."""
    named = holder.get("features", {})
    if not isinstance(named, dict):
        raise ValueError("'features' must have a number for each hypothesis by name")
    return {name: of_all(name, values, array) for name, values in named.items()}


def generated_text(item: Mapping[str, Any]) -> Any:
    """The text of a choice, an output or a candidate; "" for one without content."""
    holder = item.get("message", item)
    holder = holder if isinstance(holder, dict) else item
    content = holder["text"] if "text" in holder else holder.get("content")
    if isinstance(content, dict):
        content = content.get("parts")
    if isinstance(content, list) and _are_objects(content):
        return "".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return "" if content is None else content


def logprob(item: Mapping[str, Any]) -> float | None:
    """The sum of ln p of the tokens of a text; None without them."""
    if number(item.get("cumulative_logprob")) is not None:
        return real(item["cumulative_logprob"], "cumulative_logprob")
    tokens = found(item, "logprobs.content.[].logprob") or found(item, "logprobs.token_logprobs.[]")
    average = mean(tokens, "logprob")
    return None if average is None else average * len(tokens)


def ids_of_response(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys of a response that may have the id of its segment, which that of a request has not."""
    if record.keys() & {"object", "custom_id"}:
        return {key: value for key, value in record.items() if key not in ("id", "created")}
    return {"id": record.get("request_id"), **record} if "outputs" in record else record


def answers(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a JSON value with alternatives that have a text, or with Azure's NBest."""
    if isinstance(value, dict):
        several = value.get("alternatives")
        named = isinstance(several, list) and several and all(_has_text(each) for each in several)
        if named or _are_objects(value.get("NBest")):
            yield value
            return
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from answers(inner)


def _has_text(alternative: Any) -> bool:
    return isinstance(alternative, dict) and ("transcript" in alternative or "text" in alternative)


def confidence(item: Mapping[str, Any]) -> Any:
    """The confidence of an alternative; without one, the mean of those of its words."""
    words = found(item, "items.[].confidence")
    own = item.get("confidence", item.get("Confidence"))
    if own is None:
        return mean([word for word in words if number(word) is not None], "confidence")
    return None if number(own) is None else real(own, "confidence")


def whisper_text(result: Any) -> Any:
    """The text of a result; where it has none, as those of WhisperX and whisper.cpp, that of its segments."""
    text = next(iter(found(result, "text")), None)
    if text is not None:
        return " ".join(text.split()) if isinstance(text, str) else None
    pieces = found(result, "segments.[].text") or found(result, "transcription.[].text")
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        return None
    return " ".join(("" if any(piece[:1] == " " for piece in pieces[1:]) else " ").join(pieces).split())


def whisper_numbers(_: Any, results: Sequence[Any]) -> Columns:
    """The features of results, by name; None where a result lacks one."""
    rows = [_whisper_row(result) for result in results]
    return {name: [row.get(name) for row in rows] for name in SILENCE}


def _whisper_row(result: Mapping[str, Any]) -> Mapping[str, float | None]:
    segments = result.get("segments", [result])
    if segments == []:
        return SILENCE
    if not _are_objects(segments):
        raise ValueError('"segments" must be objects')
    sizes = [len(s["tokens"]) + 1 if isinstance(s.get("tokens"), list) else None for s in segments]
    weights = [1 if size is None else size for size in sizes]
    row = {name: mean([segment.get(name) for segment in segments], name, weights) for name in MEANS}
    average = row["avg_logprob"]
    return {"logprob": None if average is None or None in sizes else average * sum(weights), **row}


def _are_objects(value: Any) -> Any:
    """Whether a value is an array of one or more objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


class HyporadiseFormat(RecordsFormat):
    """HyPoradise JSON lines: a recogniser's hypotheses, best first, with scores and features where a line has them."""

    SHAPE: ClassVar[Shape] = Shape(
        'an object with "hyps" (or "input"), a list of texts',
        ("hyps", "input"),
        total=("^scores.[]",),
        features=own_features,
        beside=("features",),
    )


class Ctranslate2Format(RecordsFormat):
    """CTranslate2 results as JSON: hypotheses, as tokens or texts, with their scores."""

    SHAPE: ClassVar[Shape] = Shape(
        'an object with "hypotheses", tokens or a text for each hypothesis',
        ("hypotheses",),
        ("", "[]"),
        ("^scores.[]",),
        beside=("attention", "logits"),
    )


class SockeyeFormat(RecordsFormat):
    """Sockeye JSON output: translations with their scores, which are negative log probabilities."""

    SHAPE: ClassVar[Shape] = Shape(
        'an object with "translations" or "translation"',
        ("translations", ""),
        ("", "translation"),
        ("-^scores.[].0", "-^scores.[]", "-^score"),
        beside=("scores", "translations_factors"),
        of_first={"translation": "translations", "score": "scores"},
    )


@dataclass(frozen=True)
class TransformersFormat(RecordsFormat):
    """transformers output as JSON: sequences with sequences_scores, or the texts of a pipeline."""

    SHAPE: ClassVar[Shape] = Shape(
        f'"sequences", decoded with batch_decode, or an array of objects with one of {", ".join(PIPELINE_TEXTS)}',
        ("sequences", ""),
        ("", *PIPELINE_TEXTS),
        ("^sequences_scores.[]", "score"),
    )
    n: int = option(0, doc="sequences of each segment (num_return_sequences), where an object holds a batch")

    def holders(self, record: Any) -> list[Any]:
        """The record, or a part of it for each segment of its batch. Raises ValueError for another size."""
        array = record.get("sequences") if isinstance(record, dict) and "rerank" not in record else None
        if not self.n or not isinstance(array, list):
            return [record]
        if len(array) % self.n:
            raise ValueError(f"{len(array)} sequences, expected a multiple of n = {self.n}")
        scores = record.get("sequences_scores")
        keys = {"sequences": array, "sequences_scores": scores if isinstance(scores, list) else []}
        starts = range(0, len(array), self.n)
        return [{key: of_all[at : at + self.n] for key, of_all in keys.items() if of_all} for at in starts]


class CompletionsFormat(RecordsFormat):
    """Responses of language models with several texts: OpenAI's choices, vLLM's outputs, Gemini's candidates."""

    SHAPE: ClassVar[Shape] = Shape(
        f"{', '.join(RESPONSES)} with an object and a text for each text",
        (*RESPONSES, *(f"response.body.{key}" for key in RESPONSES)),
        generated_text,
        ("logprob", "avg_logprob"),
        lambda _, items: {
            "logprob": [logprob(item) for item in items],
            "avg_logprob": [number(item.get("avgLogprobs")) for item in items],
        },
        of_ids=ids_of_response,
    )

    def failure(self, record: Any) -> str:
        """The reason that a line of a batch gives for a request that failed."""
        error = next(iter([*found(record, "response.body.error"), *found(record, "error")]), None)
        message = error.get("message") if isinstance(error, dict) else error
        return f"; the request failed: {' '.join(str(message).split())}" if message else ""


@dataclass(frozen=True)
class AlternativesFormat(RecordsFormat):
    """Responses of speech services and of Vosk: Google's and Amazon's alternatives, Azure's NBest, with confidences."""

    text: str = option("Lexical", doc="which text of Azure's to read: Lexical, ITN, MaskedITN or Display")

    @property
    def shape(self) -> Shape:
        """The shape of the records."""
        return Shape(
            '"alternatives" with a "transcript" each, or "NBest"',
            ("alternatives", "NBest", "transcripts"),
            ("transcript", "text", self.text),
            ("confidence",),
            lambda _, items: {"confidence": [confidence(item) for item in items]},
            of_file=True,
        )

    def holders(self, record: Any) -> list[Any]:
        """The objects with alternatives, outermost first. Raises ValueError where there is none."""
        if holders := [*answers(record)] or found(record, "results"):
            return holders
        raise ValueError(f"expected {self.shape.wanted}")


class WhisperFormat(RecordsFormat):
    """Whisper results as JSON, with avg_logprob and no_speech_prob; an array of results is a list."""

    SHAPE: ClassVar[Shape] = Shape(
        'a Whisper result with "segments" or "avg_logprob", or an array of them',
        ("hypotheses", ""),
        whisper_text,
        ("avg_logprob",),
        whisper_numbers,
        of_file=True,
    )
