"""Source sentences, found for one segment after the other."""

from __future__ import annotations

from pathlib import Path

from rerank_adapters.formats.segment_ids import is_number
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.line_ids import settled
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.texts import Texts, missing_error
from rerank_plugins import FormatError


class Sources:
    """The sentences of a file; the first segment that asks shows whether they are matched by ids or by numbers."""

    def __init__(self, path: str | Path, reference_form: ReferenceForm = "auto") -> None:
        """Read the sentences; their lines count from 1 where those of the references do. Raises FormatError."""
        form = reference_form if reference_form == "lines-from-1" else "auto"
        self._read = read_texts(path, "source", form)
        self._texts: Texts | None = None

    @property
    def numbers(self) -> list[str]:
        """The numbers of the lines, as ids; none where the sentences have ids of their own, or no segment has asked."""
        return self._texts.ids if self._texts is not None and self._texts.counted else []

    def of(self, segment_id: str) -> str:
        """The sentence of a segment. Raises FormatError where there is none."""
        if self._texts is None:
            (settled_,) = settled([self._read], [segment_id])
            self._texts = settled_.beside([segment_id])
        texts = self._texts
        key = str(int(segment_id)) if texts.counted and is_number(segment_id) else segment_id
        if key not in texts.by_id:
            raise missing_error(texts, [segment_id], [segment_id])
        if len(several := texts.by_id[key]) > 1:
            raise FormatError(f"segment {segment_id!r} has {len(several)} sources, expected one", path=texts.path)
        return several[0]
