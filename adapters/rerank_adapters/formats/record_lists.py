"""Lists in JSON: JSON lines, documents, and the values that reranking adds to a record.

A record holds one list or several (`shapes.py`). A rescored list is one JSON line: its record, with the hypotheses and
all that is said of each in the new order, and beside them

    "rerank": {"segment": "utt-7", "scores": [the totals], "features": {"name": [a value per hypothesis]}}

which takes precedence when the line is read again. Other keys are kept. A list of a record that holds several, and one
that was merged or changed, is written as a line of its own. A hypothesis is read as one line (`one_line.py`), and a
warning counts those that were none; a record that is written again has its texts as they were.

The id of a list is that of the part of the record that holds it, or else that of the record, with -1, -2 … added where
the record holds several lists (`records.py` has the rule of ids). Elements of an array that have ids are records, not
hypotheses; where each is a single hypothesis, those of one id that follow each other are one list.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from operator import ne
from typing import Any, ClassVar

from rerank_adapters.formats.items import Item, Reader
from rerank_adapters.formats.layers import Layers
from rerank_adapters.formats.list_files import files_in, stem
from rerank_adapters.formats.one_line import in_lines
from rerank_adapters.formats.records import ADDED, Ids, found, json_records
from rerank_adapters.formats.shapes import HYPS, Columns, Shape
from rerank_adapters.formats.splicing import reordered
from rerank_plugins import FormatError, NBestList, Rescored, option
from rerank_plugins.core.json_and_toml import json_line, read_json
from rerank_plugins.core.nbest import NO_SPARSE

STREAM = "<stdin>"
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Records(Shape, Reader):
    """A format whose lists are records of JSON in a certain shape."""

    reads_json: ClassVar[bool] = True

    id_key: str = option("", doc="key that holds the segment's id; default: id, utt_id, audio_filepath …; none: ids"
                                 " are the places of the lists in the file, from 0")  # fmt: skip

    def items(self, lines: Iterable[str], path: str) -> Iterator[Item]:
        """Yield the hypotheses of one record after the other. Raises FormatError with the path and the line."""
        ids, layers, joined = Ids(self.id_key), Layers(), 0
        place, before = 0, ""
        for index, (record, raw, line, is_alone) in enumerate(self._records(lines, path)):
            name = stem(path) if is_alone else str(index)
            try:
                holders, of_record = self.holders(record), ids.next(self._keys(record))
                for number, holder in enumerate(holders, 1):
                    part = f"-{number}" if len(holders) > 1 else ""
                    own = "" if holder is record else ids.known(self._keys(holder))
                    own = own or (of_record and of_record + part)
                    id_ = own or (name + part if self.of_file else str(place))
                    array = self.hypotheses(holder)
                    ids.check_hypotheses(array)
                    continues = array[0] is holder
                    if own and path != STREAM and not (continues and own == before):
                        ids.check_new(own, line)
                    place, before = place + 1, own
                    texts = layers.taken_off(self.texts(array))
                    in_line = in_lines(texts)
                    joined += 0 if in_line is texts else sum(map(ne, in_line, texts))
                    columns, totals = self.numbers(record, holder, array)
                    whole = raw if not part else json_line(self._added(holder, id_, {})) + "\n"
                    yield from _items_of(id_, line, in_line, columns, totals, whole, continues)
            except ValueError as error:
                raise FormatError(f"{error}{_failure(record)}", path=path, line=line) from None
        ids.check_read(path)
        layers.log(path)
        if joined:
            texts_have = "1 hypothesis has" if joined == 1 else f"{joined:,} hypotheses have"
            logger.warning("rerank: warning: %s: %s line ends or tabs, which are read as spaces", path, texts_have)

    def folder_items(self, folder: str) -> Iterator[Item]:
        """Yield the hypotheses of the .json and .jsonl files of a folder, in the order of their names."""
        return self.items_of_files(files_in(folder, (".json", ".jsonl")))

    def _records(self, lines: Iterable[str], path: str) -> Iterator[tuple[Any, str, int, bool]]:
        """Each record, its text and its line, and whether it is the only one of a file that is named by its segment."""
        ids, may_be_list = Ids(self.id_key), "" in self.hyps

        def is_list(first: Any) -> bool:
            return may_be_list and not isinstance(first, list) and not ids.known(self._keys(first))

        records = json_records(lines, path, is_list)
        first = [record for _, record in zip(range(2), records, strict=False)] if self.of_file else []
        for record in first:
            yield *record, len(first) == 1
        for record in records:
            yield *record, False

    def _keys(self, record: Any) -> Any:
        """The part of a record in which its id is looked for."""
        return record if self.id_key or not isinstance(record, dict) else self.of_ids(record)

    def write(self, nbest: NBestList, rescored: Rescored | None = None) -> Iterator[str]:
        """Yield the record of a list as it was read or, with `rescored`, in its order with its totals and features."""
        raw = "".join(nbest.lines)
        record = self._own_record(nbest, raw)
        if rescored is None and record is not None:
            yield raw
            return
        base = self.composed(nbest.texts) if record is None else record
        described = nbest
        if rescored is not None:
            described = reordered(nbest, rescored)
            (holder,) = self.holders(base)
            self.arrange(holder, self.hypotheses(holder), rescored.order)
        end = "\r\n" if raw.endswith("\r\n") else "\n"
        yield json_line(self._added(base, nbest.segment_id, _values(described))) + end

    def _own_record(self, nbest: NBestList, raw: str) -> Any:
        """The record that a list was read from; None where it holds other hypotheses, or several lists."""
        try:
            record = read_json(raw)
            (holder,) = self.holders(record)
            texts = Layers().taken_off(self.texts(self.hypotheses(holder)))
        except ValueError:
            return None
        return record if [*in_lines(texts)] == nbest.texts else None

    def _added(self, record: Any, id_: str, values: dict[str, Any]) -> dict[str, Any]:
        """The record, or the array under the key of lists, with the id of the list and these values beside."""
        base = record if isinstance(record, dict) else {next(filter(None, self.hyps), HYPS[0]): record}
        return {**base, ADDED: {"segment": id_, **values}}


def _failure(record: Any) -> str:
    """The end of an error: the reason that a record gives for which it has no list, as a request that failed does."""
    error = next(iter([*found(record, "response.body.error"), *found(record, "error")]), None)
    message = error.get("message") if isinstance(error, dict) else error
    return f"; the request failed: {' '.join(str(message).split())}" if message else ""


def _items_of(
    id_: str, line: int, texts: Sequence[str], columns: Columns, totals: Sequence[Any], raw: str, continues: bool
) -> Iterator[Item]:
    count, names = len(texts), tuple(columns)
    rows = zip(*columns.values(), strict=True) if columns else repeat((), count)
    raws = chain([raw], repeat("", count - 1))
    lasts = chain(repeat(False, count - 1), [not continues])
    same = repeat(NO_SPARSE), repeat(None)  # sparse features and sources
    yield from map(
        Item, repeat(id_), repeat(line), texts, totals or repeat(None), repeat(names), rows, *same, raws, lasts
    )


def _values(nbest: NBestList) -> dict[str, Any]:
    """The totals and the features of a list, as JSON has them."""
    values: dict[str, Any] = {}
    if all(hypothesis.score is not None for hypothesis in nbest):
        values["scores"] = [hypothesis.score for hypothesis in nbest]
    if nbest.feature_names:
        values["features"] = {name: [h.features[c] for h in nbest] for c, name in enumerate(nbest.feature_names)}
    return values
