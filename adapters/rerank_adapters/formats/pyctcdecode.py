"""The beams of pyctcdecode as JSON: what `decode_beams` returns (pyctcdecode 0.3 to 0.5), one utterance a line.

    [["so it is", null, [["so", [0, 4]], …], -3.21, -5.87], ["so is it", null, …], …]
    {"id": "utt-07", "beams": [{"text": "so it is", "logit_score": -3.21, "lm_score": -5.87}, …]}
    {"utt-07": [[…], …], "utt-08": [[…], …]}          a document with the beams of each utterance

A beam is an array of text, state of the language model (absent if the decoding used processes), frames of the words,
`logit_score` and `lm_score`, or an object with these keys. `lm_score` is the sum of both models, by which the beams are
sorted, and is the total. The features, natural logarithms, are `logit` and `lm`, their difference. An object with the
beams of each utterance is written with one line for each list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import FormatMismatch, JsonFormat, JsonList, number_of
from rerank_adapters.formats.record_keys import ADDED

BEAMS_WANTED = "expected the beams of an utterance: arrays [text, state, frames, logit_score, lm_score]"


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
            raise FormatMismatch(BEAMS_WANTED)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with beams that have a text alone."""
        return {self.items: [{"text": text} for text in texts]}


def _beams(record: Any, beams: Any, utterance: str = "") -> JsonList:
    if not isinstance(beams, list) or not beams:
        raise FormatMismatch(BEAMS_WANTED)
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
    raise FormatMismatch(BEAMS_WANTED)
