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

from collections.abc import Mapping, Sequence
from typing import Any

from rerank_adapters.formats.record_lists import Records
from rerank_adapters.formats.records import found
from rerank_adapters.formats.shapes import Columns, mean, number, of_all, real

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


def generated_text(item: Any) -> Any:
    """The text of a choice, an output or a candidate; "" for one without content."""
    if not isinstance(item, dict):
        return None
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


def response_numbers(_: Any, items: Sequence[Any]) -> Columns:
    """The features of the texts of a response."""
    averages = [number(item.get("avgLogprobs")) for item in items]
    return {"logprob": [logprob(item) for item in items], "avg_logprob": averages}


def confidences(_: Any, items: Sequence[Any]) -> Columns:
    """The confidence of each alternative; of one without, the mean of those of its words."""
    return {"confidence": [_confidence(item) for item in items]}


def _confidence(item: Mapping[str, Any]) -> float | None:
    own = item.get("confidence", item.get("Confidence"))
    if own is None:
        words = found(item, "items.[].confidence")
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


HYPORADISE = Records(
    hyps=("hyps", "input"),
    text=("",),
    total=("^scores.[]",),
    wanted='an object with "hyps" (or "input"), a list of texts',
    features_by=own_features,
    beside=("features",),
)
CTRANSLATE2 = Records(
    hyps=("hypotheses",),
    text=("", "[]"),
    total=("^scores.[]",),
    wanted='an object with "hypotheses", tokens or a text for each hypothesis',
    beside=("attention", "logits"),
)
SOCKEYE = Records(
    hyps=("translations", ""),
    text=("", "translation"),
    total=("-^scores.[].0", "-^scores.[]", "-^score"),
    wanted='an object with "translations" or "translation"',
    beside=("scores", "translations_factors"),
    of_first={"translation": "translations", "score": "scores"},
)
TRANSFORMERS = Records(
    hyps=("sequences", ""),
    text=("", *PIPELINE_TEXTS),
    total=("^sequences_scores.[]", "score"),
    wanted=f'"sequences", decoded with batch_decode, or an array of objects with one of {", ".join(PIPELINE_TEXTS)}',
)
COMPLETIONS = Records(
    hyps=(*RESPONSES, *(f"response.body.{key}" for key in RESPONSES)),
    total=("logprob", "avg_logprob"),
    wanted=f"{', '.join(RESPONSES)} with an object and a text for each text",
    text_by=generated_text,
    features_by=response_numbers,
    of_ids=ids_of_response,
)
ALTERNATIVES = Records(
    hyps=("alternatives", "NBest"),
    text=("Lexical",),
    total=("confidence",),
    at="**alternatives|NBest",
    wanted='"alternatives" with a "transcript" each, or "NBest"',
    more_texts=("transcript", "text"),
    features_by=confidences,
    of_file=True,
)
WHISPER = Records(
    hyps=("hypotheses", ""),
    total=("avg_logprob",),
    wanted='a Whisper result with "segments" or "avg_logprob", or an array of them',
    text_by=whisper_text,
    features_by=whisper_numbers,
    of_file=True,
)
JSON = Records()
