"""Recognition hypotheses as JSON lines, as the HyPoradise data has them: one list per line.

    {"id": "utt-7", "hyps": ["best first", "second", "…"], "ref": "the transcript"}
    {"input": ["best first", "…"], "output": "the transcript"}

The data as published has no scores: there the order of the hypotheses is all that the recogniser says. Where a line
has `scores` (a total per hypothesis) or `features` (values by name), they are read. The segment's id is its line
number from 0 (so references are files with a line per utterance), or `segment` where a line has that; with
`id_key = "id"` it is the utterance's own id, to be matched with references that have ids. A rescored list is the same
object with `hyps` in the new order, and beside it `segment`, `scores` and `features`. Other keys are kept. Lists that
were merged, or texts that were changed, are written anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from rerank_adapters.formats.decoder_features import DenseRule
from rerank_adapters.formats.delimited import check_new_names, one_by_one
from rerank_plugins.errors import FormatError
from rerank_plugins.interfaces import NBestFormat, Rescored, option
from rerank_plugins.nbest import NO_SPARSE, Hypothesis, NBestList

KEYS = ("hyps", "input")  # of the hypotheses


@dataclass(frozen=True)
class HyporadiseFormat(NBestFormat):
    """HyPoradise JSON lines: a recogniser's hypotheses best first, with scores and features where a line has them."""

    id_key: str = option("segment", doc="key of a line that holds the segment's id; its line number where it is absent")

    @property
    def dense_rule(self) -> DenseRule:
        """There are no sparse features."""
        return DenseRule()

    def read(self, lines: Iterable[str], path: str) -> Iterator[NBestList]:
        """One list per line. Raises FormatError with path and line."""
        names: tuple[str, ...] | None = None
        for number, line in enumerate(lines, 1):
            nbest = _list(line, path, number, self.id_key)
            names = nbest.feature_names if names is None else names
            if nbest.feature_names != names:
                raise FormatError("its features are not those of line 1", path=path, line=number)
            yield nbest

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """The line of a list: as read, or in the new order with the new totals and features."""
        raw = "".join(hypothesis.raw for hypothesis in nbest)
        found = _object(raw)
        key = next((key for key in KEYS if key in found), KEYS[0])
        if rescored is None:
            yield raw if found.get(key) == nbest.texts else _line(self._described(nbest, found, key), raw)
            return
        check_new_names(nbest, rescored.names)
        new = one_by_one(rescored)
        described = self._described(nbest, found, key)
        described[key] = [nbest[i].text for i in rescored.order]
        described["scores"] = [float(rescored.scores[i]) for i in rescored.order]
        rows = [(*nbest[i].features, *new[i]) for i in rescored.order]
        names = (*nbest.feature_names, *rescored.names)
        described["features"] = {name: [row[c] for row in rows] for c, name in enumerate(names)}
        yield _line(described, raw)

    def _described(self, nbest: NBestList, found: dict[str, Any], key: str) -> dict[str, Any]:
        described = {**found, self.id_key: nbest.segment_id, key: nbest.texts}
        if any(hypothesis.score is not None for hypothesis in nbest):
            described["scores"] = [hypothesis.score for hypothesis in nbest]
        if nbest.feature_names:
            described["features"] = {name: [h.features[c] for h in nbest] for c, name in enumerate(nbest.feature_names)}
        return described


def _line(described: dict[str, Any], raw: str) -> str:
    end = "\r\n" if raw.endswith("\r\n") else "\n" if raw.endswith("\n") or not raw else ""
    return json.dumps(described, ensure_ascii=False) + end


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _list(line: str, path: str, number: int, id_key: str) -> NBestList:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise FormatError(f"no JSON ({error})", path=path, line=number) from None
    key = next((key for key in KEYS if isinstance(found, dict) and key in found), None)
    texts = found[key] if key else None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise FormatError('expected an object with "hyps" (or "input"), a list of texts', path=path, line=number)
    scores = found.get("scores", [None] * len(texts))
    features = found.get("features", {})
    columns = features.values() if isinstance(features, dict) else ()
    if not isinstance(features, dict) or not all(_are_numbers(column, len(texts)) for column in columns):
        raise FormatError('"features" must have a number per hypothesis by name', path=path, line=number)
    if "scores" in found and not _are_numbers(scores, len(texts)):
        raise FormatError('"scores" must be a number per hypothesis', path=path, line=number)
    rows = list(zip(*columns, strict=True)) or [()] * len(texts)
    hypotheses = [
        Hypothesis(text, tuple(map(float, row)), None if score is None else float(score), NO_SPARSE, "")
        for text, row, score in zip(texts, rows, scores, strict=True)
    ]
    hypotheses[0] = hypotheses[0]._replace(raw=line)
    return NBestList(str(found.get(id_key, number - 1)), tuple(hypotheses), tuple(features), line=number)


def _are_numbers(values: object, wanted: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == wanted
        and all(isinstance(v, int | float) and not isinstance(v, bool) and isfinite(v) for v in values)
    )
