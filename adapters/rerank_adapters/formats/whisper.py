"""Whisper's transcriptions as JSON (`whisper --output_format json`, openai-whisper 20231117; faster-whisper the same).

    {"text": " So it is.", "segments": [{"text": " So it is.", "avg_logprob": -0.21, "no_speech_prob": 0.01,
     "temperature": 0.0, "compression_ratio": 0.9, "tokens": […], "start": 0.0, "end": 1.2, …}, …], "language": "en"}

Whisper writes only its best transcription. A list is therefore one of three things: a JSON array of such results (or
of the results of `whisper.decode`, which have the same numbers without segments), an object that has such an array
under `hypotheses`, or the results of several files of the same name, as runs of several models or temperatures write
them: `rerank` merges the lists of one utterance. The utterance is the id of the object (`record_keys.py`), or the name
of the file if it holds one list.

Features: `logprob`, the log probability of the tokens (Σ avg_logprob · (tokens + 1) over the segments, natural), and
the means over the segments, weighted by their tokens, of `avg_logprob`, `no_speech_prob`, `compression_ratio` and
`temperature`. The total is the mean `avg_logprob`, by which Whisper itself ranks. A number that a hypothesis lacks is
no feature of its list. Segments of one window of 30 s share its numbers, so that `logprob` is exact for utterances of a
single segment, and close to it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import FormatMismatch, JsonFormat, JsonList, complete, number_of

MEANS = ("avg_logprob", "no_speech_prob", "compression_ratio", "temperature")
RESULT_WANTED = 'expected a Whisper result with "segments" or "avg_logprob", or an array of them'


@dataclass(frozen=True)
class WhisperFormat(JsonFormat):
    """Whisper results as JSON, with avg_logprob and no_speech_prob; an array of results is a list."""

    items: ClassVar[str] = "hypotheses"
    file_is_list: ClassVar[bool] = True

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a record."""
        results = record.get(self.items, [record]) if isinstance(record, dict) else record
        if not isinstance(results, list) or not results or not all(isinstance(result, dict) for result in results):
            raise FormatMismatch(RESULT_WANTED)
        if not all(isinstance(result.get("text"), str) for result in results):
            raise FormatMismatch(RESULT_WANTED)
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
        raise FormatMismatch(RESULT_WANTED)
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
