"""CTranslate2's results as JSON: the fields of a TranslationResult (CTranslate2 4), one segment a line.

    {"hypotheses": [["▁the", "▁old", "▁mill"], ["▁an", "▁old", "▁mill"]], "scores": [-0.41, -0.63]}

as `json.dumps({"hypotheses": result.hypotheses, "scores": result.scores})` writes them. A hypothesis is an array of
tokens, whose text is the tokens joined by spaces (the text step `undo-sentencepiece` joins pieces), or a text. The
score, a natural logarithm, normalised by the length penalty of the search, is the total and the feature `score`. The id
of a segment is its place in the file, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rerank_adapters.formats.json_lists import JsonFormat, JsonList, NotThisFormat, number_of, texts_of


@dataclass(frozen=True)
class Ctranslate2Format(JsonFormat):
    """CTranslate2 results as JSON: hypotheses, as tokens or texts, with their scores."""

    items: ClassVar[str] = "hypotheses"
    parallel: ClassVar[tuple[str, ...]] = ("scores", "attention", "logits")

    def lists(self, record: Any) -> Iterator[JsonList]:
        """Yield the one list of a result, or of each result of an array."""
        for result in record if isinstance(record, list) and record else [record]:
            if not isinstance(result, dict) or not isinstance(result.get(self.items), list):
                raise NotThisFormat('expected an object with "hypotheses"')
            texts = [_text(hypothesis) for hypothesis in result[self.items]]
            scores = None
            if result.get("scores"):
                numbers = [number_of({"": score}, "") for score in result["scores"]]
                if len(numbers) != len(texts) or None in numbers:
                    raise NotThisFormat('"scores" must have a finite number for each hypothesis')
                scores = [number for number in numbers if number is not None]
            columns = {"score": scores} if scores is not None else {}
            yield JsonList(result, texts_of(texts, "tokens or a text for each hypothesis"), columns, scores)

    def compose(self, texts: Sequence[str]) -> dict[str, Any]:
        """A record with hypotheses alone."""
        return {self.items: [text.split() for text in texts]}


def _text(hypothesis: Any) -> Any:
    if isinstance(hypothesis, list) and all(isinstance(token, str) for token in hypothesis):
        return " ".join(hypothesis)
    return hypothesis
