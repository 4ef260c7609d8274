"""The data that a caller of the Python API hands over: n-best lists and their references, checked at once.

References in files are matched by ids, as commands do it (texts/pairing.py). A mapping is matched by its ids, a
sequence by the positions of the lists, a series of pandas too, unless its index says something else; several references
of a segment are a sequence of texts in the place of one text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rerank_adapters.formats.frames import is_frame
from rerank_adapters.runtime.progress import counted
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.pairing import Paired, Purpose, Unpaired, pair
from rerank_adapters.texts.reading import read_texts
from rerank_adapters.texts.texts import MAPPING, Texts
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.columns import one_line, plain
from rerank_plugins.core.nbest import PackedHypotheses
from rerank_plugins.core.sentences import check_lists

OfSegment: TypeAlias = tuple[str, ...]  # the references of a segment


def numbered(lists: Iterable[NBestList]) -> Iterator[NBestList]:
    """The lists, of which those without an id get the number of their place.

    Raises TypeError for other things, FormatError for an empty list and for a number that is not finite.
    """
    for place, nbest in enumerate(lists):
        if not isinstance(nbest, NBestList):
            raise TypeError(f"wanted n-best lists, found {nbest!r:.60}: NBestList.from_texts and read_nbest make them")
        if not len(nbest):
            raise FormatError(f"segment {nbest.segment_id or place} has no hypotheses to choose from")
        _check_finite(nbest, nbest.segment_id or str(place))
        yield nbest if nbest.segment_id else replace(nbest, segment_id=str(place))


def lists_of(lists: Iterable[NBestList]) -> list[NBestList]:
    """The lists, numbered. Raises TypeError for a single list or text, ConfigError for no lists and an id of two."""
    if isinstance(lists, str | Path):
        raise TypeError(f"wanted a sequence of n-best lists, found {lists!r:.60}: read_nbest reads files")
    if is_frame(lists):
        raise TypeError("wanted n-best lists, found a data frame: read_nbest(frame) makes lists of it")
    if not isinstance(lists, Iterable):
        raise TypeError(f"wanted a sequence of n-best lists, found {one_line(lists)}")
    check_lists(lists)
    found = list(numbered(lists))
    if not found:
        raise ConfigError("wanted at least one n-best list, found none")
    seen: set[str] = set()
    for nbest in found:
        if nbest.segment_id in seen:
            raise ConfigError(f"two lists are those of segment {nbest.segment_id}: give each an id of its own")
        seen.add(nbest.segment_id)
    return found


def _check_finite(nbest: NBestList, segment: str) -> None:
    """Raise FormatError for a feature or a total that is not finite, as readers of files do."""
    values = nbest.values
    if (wrong := ~np.isfinite(values)).any():
        row, column = np.argwhere(wrong)[0]
        where = f"segment {segment}, hypothesis {row}: {nbest.feature_names[column]}"
        raise FormatError(f"{where} is {values[row, column]:g}, wanted a finite number")
    if isinstance(nbest.hypotheses, PackedHypotheses) and not np.isinf(nbest.totals).any():
        return  # its hypotheses, which have no score where the total is nan, stay packed
    for row, hypothesis in enumerate(nbest):
        if hypothesis.score is not None and not isfinite(hypothesis.score):
            where = f"segment {segment}, hypothesis {row}: the score"
            raise FormatError(f"{where} is {hypothesis.score:g}, wanted a finite number, or None in each hypothesis")


def pair_with(
    lists: Sequence[NBestList],
    references: object,
    form: ReferenceForm = "auto",
    purpose: Purpose = "evaluation",
    unpaired: Unpaired = "empty",
) -> Paired:
    """The lists with their references. Raises as `texts_by_id` and `pair` do."""
    ids = [nbest.segment_id for nbest in lists]
    return pair(texts_by_id(references, form, ids), None, lists, unpaired, purpose)


def texts_by_id(references: object, form: ReferenceForm, ids: Sequence[str] | None = None) -> list[Texts]:
    """The references by the ids of segments; those of a sequence are for the lists with these ids, or numbered from 0.

    Raises FormatError for a sequence of another length, with both lengths, and for a series whose index has the ids in
    another order; TypeError for other values.
    """
    if isinstance(references, str) and not _is_file(references):
        raise FormatError(f"{references!r:.60}: no such file of references; texts are a list, one for each n-best list")
    if files := files_of(references):
        return [read_texts(file, "reference", form) for file in files]
    if isinstance(references, Mapping):
        by_id = {str(id_): _of_segment(item, f"references[{id_!r}]") for id_, item in references.items()}
        if len(by_id) < len(references):
            raise ConfigError("references: two keys are one id, as 1 and '1' are")
        return [Texts("references", by_id, MAPPING)]
    texts = references_of(references)
    ids = [str(place) for place in range(len(texts))] if ids is None else ids
    if len(texts) != len(ids):
        raise FormatError(f"{counted(len(texts), 'reference')} for {counted(len(ids), 'list')}")
    check_order("references", labels_of(references), ids)
    return [Texts("references", dict(zip(ids, texts, strict=True)), MAPPING)]


def files_of(references: object) -> list[str | Path]:
    """The files, if the references are in files: a path, a text that names one, or a sequence of these; else none."""
    if isinstance(references, str | Path):
        return [references]
    if isinstance(references, Sequence) and references and all(isinstance(item, str | Path) for item in references):
        return list(references) if all(isinstance(item, Path) or _is_file(item) for item in references) else []
    return []


def _is_file(text: object) -> bool:
    try:
        return Path(str(text)).is_file()
    except (OSError, ValueError):  # a text too long for a name, or with a null character
        return False


def references_of(references: object) -> list[OfSegment]:
    """The references of each segment, of a sequence. Raises TypeError, with the place, for other things.

    >>> references_of(["it is so", ["so it is", "it is so"]])
    [('it is so',), ('so it is', 'it is so')]
    """
    if is_frame(references):
        raise TypeError("references: wanted texts, found a data frame: give a column, as frame['reference']")
    given = plain(references)
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"references: wanted texts, files, or a mapping of ids to texts, found {one_line(given)}")
    return [_of_segment(item, f"references[{place}]") for place, item in enumerate(given)]


def _of_segment(item: object, where: str) -> OfSegment:
    item = plain(item)
    if isinstance(item, str):
        return (item,)
    if isinstance(item, Sequence) and item and all(isinstance(text, str) for text in item):
        return tuple(item)
    raise TypeError(f"{where}: wanted a text, or a sequence of texts, found {item!r:.60}")


def labels_of(values: object) -> list[str]:
    """The labels in the index of a series of pandas, as texts; none for other values."""
    index: Any = getattr(values, "index", None)  # a list has a method of this name
    return [] if callable(index) or not hasattr(values, "to_dict") else [*map(str, index)]


def check_order(what: str, labels: Sequence[str], ids: Sequence[str]) -> None:
    """Raise FormatError where the labels of a series are the ids of the segments, in another order.

    They may be ids, or the rows of a frame that the segments were taken from in the present order.
    """
    if list(labels) == list(ids) or len(labels) != len(ids) or {*labels} != {*ids}:
        return
    place = next(place for place, (label, id_) in enumerate(zip(labels, ids, strict=True)) if label != id_)
    found = f"the index of the series has {labels[place]!r} in the place of segment {ids[place]!r}"
    raise FormatError(f"{what}: {found}; to_dict() matches the texts by the index, and tolist() by their places")
