"""Source sentences, matched with segments as references are: by ids where the file has them, else by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rerank_adapters.formats.references import NUMBERED, ReferenceForm, References, read_references
from rerank_adapters.formats.segment_ids import is_number
from rerank_plugins import FormatError


@dataclass
class Sources:
    """The sentences of a file; the first segment that asks shows whether they are matched by ids or by numbers."""

    texts: References
    _by_id: Mapping[str, str] = field(default_factory=dict)
    _numbered: bool = False

    @classmethod
    def read(cls, path: str | Path, reference_form: ReferenceForm = "auto") -> Sources:
        """Read the sentences; their lines count from 1 where those of the references do. Raises FormatError."""
        form = reference_form if reference_form == "lines-from-1" else "auto"
        return cls(read_references([path], form, "source"))

    @property
    def numbers(self) -> list[str]:
        """The numbers of the lines, as ids; none where the lines have ids of their own."""
        return list(self._by_id) if self._numbered else []

    def of(self, segment_id: str) -> str:
        """The sentence of a segment. Raises FormatError where there is none."""
        if not self._by_id:
            ids = self.texts.ids_beside([segment_id])
            self._numbered = self.texts.form_for([segment_id]) in NUMBERED and self.texts.form != "json"
            keys = [str(int(id_)) for id_ in ids] if self._numbered else ids
            self._by_id = dict(zip(keys, (text for (text,) in self.texts.for_segments(ids)), strict=True))
        key = str(int(segment_id)) if self._numbered and is_number(segment_id) else segment_id
        if key not in self._by_id:
            raise self._lacks(segment_id)
        return self._by_id[key]

    def _lacks(self, segment_id: str) -> FormatError:
        name, count = self.texts.names[0], len(self._by_id)
        if not self._numbered or not is_number(segment_id):
            return FormatError(f"no source sentence for segment id {segment_id!r} among its {count} ids", path=name)
        first = next(iter(self._by_id))
        last = int(first) + count - 1
        message = f"no line for segment id {segment_id}: the file has {count} lines, for the ids {first} to {last}"
        if first == "0" and int(segment_id) == count:
            message += "; if the ids count from 1, put an empty line before the first one"
        return FormatError(message, path=name)
