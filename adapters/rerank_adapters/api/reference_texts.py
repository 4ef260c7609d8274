"""References as a Python user has them: texts in memory, by position or by id, or files.

Files are matched by ids as commands do it (formats/pairing.py). A mapping is matched by its ids, a sequence by the
positions of the lists, a series of pandas too, unless its index says something else; several references of a segment
are a sequence of texts in the place of one text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.formats.frames import is_frame
from rerank_adapters.formats.pairing import PairedLists, Purpose, Unpaired, pair, pair_lists
from rerank_adapters.formats.references import ReferenceForm, read_references
from rerank_adapters.formats.segment_ids import order_of_ids, some_of
from rerank_adapters.runtime.progress import counted
from rerank_plugins import FormatError, NBestList
from rerank_plugins.core.columns import one_line, plain

Texts = tuple[str, ...]


def files_of(references: object) -> list[str | Path]:
    """The files, if the references are in files: a path, a text that names one, or a sequence of these; else none."""
    if isinstance(references, str | Path):
        return [references]
    if isinstance(references, Sequence) and references and all(isinstance(item, str | Path) for item in references):
        named = [isinstance(item, Path) or _is_file(item) for item in references]
        return list(references) if all(named) else []
    return []


def pair_with(
    nbests: Sequence[NBestList],
    references: object,
    form: ReferenceForm = "auto",
    purpose: Purpose = "evaluation",
    unpaired: Unpaired = "empty",
) -> PairedLists:
    """The lists with their references; `unpaired` is the rule for those of which there is one alone.

    Raises FormatError for a sequence of another length, with both lengths, for a series whose index has the ids in
    another order, and for lists without a reference; TypeError for what are no references.
    """
    if isinstance(references, str) and not _is_file(references):
        raise FormatError(f"{references!r:.60}: no such file of references; texts are a list, one for each n-best list")
    if files := files_of(references):
        return pair_lists(nbests, read_references(files, form), unpaired, purpose)
    if isinstance(references, Mapping):
        return _paired_by_id(nbests, by_id(references), purpose, unpaired)
    texts, ids = in_order(references), [nbest.segment_id for nbest in nbests]
    if len(texts) != len(nbests):
        raise FormatError(f"{counted(len(texts), 'reference')} for {counted(len(nbests), 'list')}")
    check_order("references", labels_of(references), ids)
    return PairedLists(list(nbests), texts, ids, {})


def in_order(references: object) -> list[Texts]:
    """The references of each segment, of a sequence. Raises TypeError, with the place, for other things.

    >>> in_order(["it is so", ["so it is", "it is so"]])
    [('it is so',), ('so it is', 'it is so')]
    """
    if is_frame(references):
        raise TypeError("references: wanted texts, found a data frame: give a column, as frame['reference']")
    given = plain(references)
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"references: wanted texts, files, or a mapping of ids to texts, found {one_line(given)}")
    return [_texts(item, f"references[{place}]") for place, item in enumerate(given)]


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


def by_id(references: Mapping[Any, object]) -> dict[str, Texts]:
    """The references of each segment by its id, as a text."""
    return {str(id_): _texts(item, f"references[{id_!r}]") for id_, item in references.items()}


def _texts(item: object, where: str) -> Texts:
    item = plain(item)
    if isinstance(item, str):
        return (item,)
    if isinstance(item, Sequence) and item and all(isinstance(text, str) for text in item):
        return tuple(item)
    raise TypeError(f"{where}: wanted a text, or a sequence of texts, found {item!r:.60}")


def _paired_by_id(
    nbests: Sequence[NBestList], references: Mapping[str, Texts], purpose: Purpose, unpaired: Unpaired
) -> PairedLists:
    pairing = pair(list(references), [nbest.segment_id for nbest in nbests])
    no_reference = f"no reference for {counted(len(pairing.surplus), 'list')} ({some_of(pairing.surplus)})"
    if pairing.surplus and (unpaired != "leave-out" or not pairing.shared):
        raise FormatError(f"{no_reference} among {len(references)} ids")
    no_list = f"no list for {len(pairing.missing)} of {counted(len(references), 'segment')}"
    no_list += f" ({some_of(pairing.missing)})"
    if pairing.missing and unpaired == "error":
        raise FormatError(no_list)
    lost = pairing.missing if unpaired == "empty" and purpose == "evaluation" else []
    findings = [f"{no_list}: {'counted as empty hypotheses' if lost else 'left out'}"] if pairing.missing else []
    findings += [f"{no_reference}: left out"] if pairing.surplus else []
    ids = order_of_ids(references) if lost else pairing.shared
    shared = [nbest for nbest in nbests if nbest.segment_id in references]
    by_list = [references[nbest.segment_id] for nbest in shared]
    return PairedLists(shared, by_list, ids, {id_: references[id_] for id_ in lost}, tuple(findings))


def _is_file(text: object) -> bool:
    try:
        return Path(str(text)).is_file()
    except (OSError, ValueError):  # a text too long for a name, or with a null character
        return False
