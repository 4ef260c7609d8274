"""Recognition hypotheses as JSON: of speech services, of Whisper, and of pyctcdecode.

The alternatives that speech services return as JSON: Google, Amazon, Azure, Deepgram and those that copy them.

    Google Speech-to-Text v1, v2   {"results": [{"alternatives": [{"transcript": "so it is", "confidence": 0.92}, …]}]}
    Deepgram v1                    {"results": {"channels": [{"alternatives": [{"transcript": …, "confidence": …}]}]}}
    Amazon Transcribe              {"results": {"segments": [{"alternatives": [{"transcript": …, "items": […]}]}]}}
    Azure Speech, detailed         {"NBest": [{"Confidence": 0.92, "Lexical": "so it is", "Display": "So it is."}, …]}
    Vosk, SetMaxAlternatives       {"alternatives": [{"text": " so it is", "confidence": 231.4}, …]}

Every object with `alternatives` that have a transcript, or with `NBest`, is a list, wherever it stands. A file holds
one response, or JSON lines. The id of a list is that of the object or of the response (`record_keys.py`), or else the
name of the file (of JSON lines: the number of the line, from 0); where a response holds several lists, -1, -2 … is
added. `confidence` (of
Amazon the mean over the words) is the total and a feature where every alternative has it: Google gives one for the
first alternative alone, which is not read. Vosk's is a log-likelihood. Azure's text is that of the option `text`.

Whisper's transcriptions as JSON (`whisper --output_format json`, openai-whisper 20231117; faster-whisper the same).

    {"text": " So it is.", "segments": [{"text": " So it is.", "avg_logprob": -0.21, "no_speech_prob": 0.01,
     "temperature": 0.0, "compression_ratio": 0.9, "tokens": […], "start": 0.0, "end": 1.2, …}, …], "language": "en"}

Whisper writes its best transcription alone. A list is therefore one of three things: a JSON array of such results (or
of the results of `whisper.decode`, which have the same numbers without segments), an object that has such an array
under `hypotheses`, or the results of several files of the same name, as runs of several models or temperatures write
them: `rerank` merges the lists of one utterance. The utterance is the id of the object (`record_keys.py`), or the name
of the file where it holds one list.

Features: `logprob`, the log probability of the tokens (Σ avg_logprob · (tokens + 1) over the segments, natural), and
the means over the segments, weighted by their tokens, of `avg_logprob`, `no_speech_prob`, `compression_ratio` and
`temperature`. The total is the mean `avg_logprob`, by which Whisper itself ranks. A number that a hypothesis lacks is
no feature of its list. Segments of one window of 30 s share its numbers, so that `logprob` is exact for utterances of a
single segment, and close to it otherwise.

The beams of pyctcdecode as JSON: what `decode_beams` returns (pyctcdecode 0.3 to 0.5), one utterance a line.

    [["so it is", null, [["so", [0, 4]], …], -3.21, -5.87], ["so is it", null, …], …]
    {"id": "utt-07", "beams": [{"text": "so it is", "logit_score": -3.21, "lm_score": -5.87}, …]}
    {"utt-07": [[…], …], "utt-08": [[…], …]}          a document with the beams of each utterance

A beam is an array of text, state of the language model (absent where the decoding used processes), frames of the words,
`logit_score` and `lm_score`, or an object with these keys. `lm_score` is the sum of both models, by which the beams are
sorted: it is the total. The features, natural logarithms, are `logit` and `lm`, their difference. An object with the
beams of each utterance is written with one line for each list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import JsonFormat, JsonList, NotThisFormat, complete, number_of, texts_of
from rerank_adapters.formats.record_keys import ADDED
from rerank_plugins import option

BEAMS_WANTED = "expected the beams of an utterance: arrays [text, state, frames, logit_score, lm_score]"
MEANS = ("avg_logprob", "no_speech_prob", "compression_ratio", "temperature")
WANTED = 'expected a Whisper result with "segments" or "avg_logprob", or an array of them'


@dataclass(frozen=True)
class PyctcdecodeFormat(JsonFormat):
    """pyctcdecode beams as JSON: text, logit score and the score with the language model."""

    items: ClassVar[str] = "beams"

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the list of an array of beams, or that of each utterance of an object."""
        if isinstance(record, list):
            yield _beams(record, record)
        elif isinstance(record, dict) and self.items in record:
            yield _beams(record, record[self.items])
        elif isinstance(record, dict) and record:
            for utterance, beams in record.items():
                if utterance != ADDED:
                    yield _beams({"id": utterance, self.items: beams}, beams, utterance)
        else:
            raise NotThisFormat(BEAMS_WANTED)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with beams that have a text alone."""
        return {self.items: [{"text": text} for text in texts]}


def _beams(record: Any, beams: Any, utterance: str = "") -> JsonList:
    if not isinstance(beams, list) or not beams:
        raise NotThisFormat(BEAMS_WANTED)
    parsed = [_beam(beam) for beam in beams]
    columns: dict[str, list[float]] = {}
    scores = None
    if all(logit is not None and total is not None for _, logit, total in parsed):
        numbers = [(logit, total) for _, logit, total in parsed if logit is not None and total is not None]
        columns = {"logit": [logit for logit, _ in numbers], "lm": [total - logit for logit, total in numbers]}
        scores = [total for _, total in numbers]
    return JsonList(record, [text for text, _, _ in parsed], columns, scores, utterance)


def _beam(beam: Any) -> tuple[str, float | None, float | None]:
    if isinstance(beam, dict) and isinstance(beam.get("text"), str):
        return beam["text"], number_of(beam, "logit_score"), number_of(beam, "lm_score")
    if isinstance(beam, list) and len(beam) in (4, 5) and isinstance(beam[0], str):
        named = {"logit_score": beam[-2], "lm_score": beam[-1]}
        return beam[0], number_of(named, "logit_score"), number_of(named, "lm_score")
    raise NotThisFormat(BEAMS_WANTED)


@dataclass(frozen=True)
class WhisperFormat(JsonFormat):
    """Whisper results as JSON, with avg_logprob and no_speech_prob; an array of results is a list."""

    items: ClassVar[str] = "hypotheses"
    file_is_list: ClassVar[bool] = True

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a record."""
        results = record.get(self.items, [record]) if isinstance(record, dict) else record
        if not isinstance(results, list) or not results or not all(isinstance(result, dict) for result in results):
            raise NotThisFormat(WANTED)
        if not all(isinstance(result.get("text"), str) for result in results):
            raise NotThisFormat(WANTED)
        named = [_numbers(result) for result in results]
        columns = complete({name: [numbers.get(name) for numbers in named] for name in ("logprob", *MEANS)})
        texts = [" ".join(result["text"].split()) for result in results]
        yield JsonList(record, texts, columns, columns.get("avg_logprob"))

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with results that have a text alone."""
        return {self.items: [{"text": text} for text in texts]}


def _numbers(result: Mapping[str, Any]) -> dict[str, float]:
    """The features of one result, as far as it has the numbers."""
    segments = result.get("segments", [result])
    if not isinstance(segments, list) or not all(isinstance(segment, dict) for segment in segments):
        raise NotThisFormat(WANTED)
    if not segments:
        return {}
    tokens = [len(s["tokens"]) + 1 if isinstance(s.get("tokens"), list) else None for s in segments]
    weights = [1 if count is None else count for count in tokens]
    values: dict[str, float] = {}
    for name in MEANS:
        numbers = [number_of(segment, name) for segment in segments]
        known = [number for number in numbers if number is not None]
        if len(known) == len(segments):
            values[name] = sum(w * n for w, n in zip(weights, known, strict=True)) / sum(weights)
    if "avg_logprob" in values and None not in tokens:
        values["logprob"] = values["avg_logprob"] * sum(weights)
    return values


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
            raise NotThisFormat('expected "alternatives" with a "transcript" each, or "NBest"')
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
        if _are_objects(nbest) or (
            _are_objects(alternatives) and all(_text_key(item) in item for item in alternatives)
        ):
            yield value
        else:
            for inner in value.values():
                yield from _objects(inner)


def _text_key(alternative: Mapping[str, Any]) -> str:
    """The key of an alternative's text: Vosk's is another than that of the services."""
    return "transcript" if "transcript" in alternative else "text"


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _confidence(item: Mapping[str, Any]) -> float | None:
    """The confidence of an alternative; without one, the mean of those of its words."""
    words = item.get("items")
    if "confidence" not in item and isinstance(words, list):
        numbers = [number_of(word, "confidence") for word in words if isinstance(word, dict)]
        known = [number for number in numbers if number is not None]
        return sum(known) / len(known) if known else None
    return number_of(item, "confidence")
