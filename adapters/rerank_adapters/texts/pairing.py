"""Pairs references with the outputs of systems and with n-best lists: the one place that finds what only some have.

Ids are paired with ids, and places with places: a place never stands for a name, unless the user says that the lines or
the records of a file are matched by position. The references say which segments there are. A segment whose list or
output is not there, since a decoder lost it, is *missing*; a list or an output without a reference is *surplus*. The
rule `Unpaired` says how both are treated:

    empty      a missing segment counts as an empty hypothesis in an evaluation, and tuning leaves it out; a surplus
               list is an error, since its ids or the references are wrong
    leave-out  the segments that both have are taken, the others are left out
    error      both are errors

Whatever is left out or counted as empty is named by a finding, a sentence that commands print as a warning.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rerank_adapters.formats.segment_ids import ids_of_lines, is_number, order_of_ids, some_of
from rerank_adapters.runtime.progress import counted
from rerank_adapters.texts.line_ids import settled
from rerank_adapters.texts.records import form_option, is_of_role
from rerank_adapters.texts.texts import FROM_1, Texts, id_mismatch, missing_error
from rerank_plugins import FormatError, Hypothesis, NBestList

Unpaired = Literal["empty", "leave-out", "error"]
Purpose = Literal["tuning", "evaluation"]
LEAVE_OUT = "; `--unpaired leave-out` takes the segments that both have (in a config, `unpaired`)"
EMPTY = (Hypothesis(""),)  # the hypotheses of a lost list


@dataclass(frozen=True)
class Paired:
    """The segments that count: their ids, the references of each, the outputs of each system, and lists, if any.

    A list in `lost` was missing and has the empty hypothesis alone. `findings` are sentences about unpaired segments.
    """

    ids: list[str]
    references: list[tuple[str, ...]]
    outputs: Mapping[str, list[str]]
    lists: list[NBestList] | None
    findings: tuple[str, ...] = ()
    lost: Collection[str] = ()

    @classmethod
    def without_references(cls, lists: Sequence[NBestList]) -> Paired:
        """Lists for which there are no references at all."""
        return cls([nbest.segment_id for nbest in lists], [() for _ in lists], {}, list(lists))


def pair(
    references: Sequence[Texts],
    systems: Mapping[str, Texts] | None = None,
    lists: Sequence[NBestList] | None = None,
    unpaired: Unpaired = "empty",
    purpose: Purpose = "evaluation",
    list_files: Sequence[str | Path] = (),
) -> Paired:
    """Pair references, the outputs of systems by name, and lists, one per segment, as the rule `unpaired` says.

    The segments are in the order of the lists or, without lists and where some are missing, of the references. Raises
    FormatError for surplus or missing segments where they are errors, for a file none of whose segments has a
    reference, for files of references that differ in their segments, for a system or one of `list_files` that is read
    as the references are, and where files have ids of different kinds, or it is doubtful whether they have ids.
    """
    own_ids = [nbest.segment_id for nbest in lists or ()]
    files = settled([*references, *(systems or {}).values()], own_ids)
    references, outputs = files[: len(references)], dict(zip(systems or {}, files[len(references) :], strict=True))
    for text in outputs.values():
        _check_other(text, references)
    of_segments = _joined(references, own_ids)
    wanted, findings, lost = order_of_ids(of_segments), list[str](), list[str]()
    ids = wanted
    if lists is not None:
        ids, lost, findings = _pair_lists(references[0], of_segments, wanted, own_ids, unpaired, purpose)
        _check_lists(list_files, lists, references, of_segments)
    of_systems = {name: _by_id(text, references[0], wanted, own_ids) for name, text in outputs.items()}
    left_out: set[str] = set()
    for name, texts in of_systems.items():
        missing, found = _check_outputs(outputs[name], references[0], ids, texts, unpaired)
        findings += found
        left_out.update(missing if unpaired == "leave-out" else ())
    kept = [id_ for id_ in ids if id_ not in left_out]
    if not kept:
        raise FormatError("no segment has an output of every system", path=references[0].path)
    by_id = {nbest.segment_id: nbest for nbest in lists or ()}
    return Paired(
        kept,
        [of_segments[id_] for id_ in kept],
        {name: [texts.get(id_, "") for id_ in kept] for name, texts in of_systems.items()},
        None if lists is None else [by_id.get(id_) or NBestList(id_, EMPTY) for id_ in kept],
        tuple(findings),
        frozenset(lost),
    )


def for_segments(references: Sequence[Texts], ids: Sequence[str]) -> list[tuple[str, ...]]:
    """The references of each id, of all files. Raises FormatError for an id without a reference, and as `pair` does."""
    files = settled(references, ids)
    texts = _joined(files, ids)
    if lost := [id_ for id_ in ids if id_ not in texts]:
        raise missing_error(_spelt(files[0].beside(ids), ids), lost, ids)
    return [texts[id_] for id_ in ids]


def _joined(references: Sequence[Texts], ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The references of each segment, of all files; those of lines are spelt as among `ids` (`007`).

    Raises FormatError for a file that lacks segments of the first one.
    """
    if not references:
        raise FormatError("no reference file was named, expected at least one")
    first = _spelt(references[0].beside(ids), ids)
    if references[0].counted and (mismatch := id_mismatch(references[0], ids)):
        raise FormatError(mismatch, path=references[0].path)
    joined = dict(first.by_id)
    for other in references[1:]:
        if other.counted and references[0].counted and len(other.by_id) != len(joined):
            message = f"has {counted(len(other.by_id), 'line')} but {first.path} has {len(joined)}; they must match"
            raise FormatError(message, path=other.path)
        more = _spelt((other.like(references[0]) if other.counted else other).beside(ids), ids)
        if lacking := [id_ for id_ in joined if id_ not in more.by_id]:
            raise missing_error(more, lacking, list(joined))
        joined = {id_: (*texts, *more.by_id[id_]) for id_, texts in joined.items()}
    return joined


def _spelt(texts: Texts, ids: Sequence[str]) -> Texts:
    """Texts by place with the numbers spelt as among `ids`."""
    spelt = {int(id_): id_ for id_ in ids if is_number(id_)} if texts.counted else {}
    return replace(texts, by_id={spelt.get(int(id_), id_): own for id_, own in texts.by_id.items()}) if spelt else texts


def _pair_lists(
    first: Texts, references: Mapping[str, object], wanted: Sequence[str], ids: Sequence[str], unpaired: Unpaired,
    purpose: Purpose,
) -> tuple[list[str], list[str], list[str]]:  # fmt: skip
    """The segments that count, those of them whose list is lost, and the findings about lists."""
    there = frozenset(ids)
    shared, surplus = [i for i in ids if i in references], [i for i in ids if i not in references]
    missing = [i for i in wanted if i not in there]
    if surplus and (unpaired != "leave-out" or not shared):
        raise missing_error(first.beside(ids), surplus, ids, LEAVE_OUT if shared else "")
    no_list = f"no list for {len(missing)} of {counted(len(wanted), 'segment')} ({some_of(missing)})"
    if missing and unpaired == "error":
        raise FormatError(no_list, path=first.path)
    lost = missing if unpaired == "empty" and purpose == "evaluation" else []
    findings = []
    if missing:
        what = "counted as empty hypotheses" if lost else "left out"
        findings.append(f"{no_list}: {what}{_may_count_from_1(first, shared)}")
    if surplus:
        findings.append(
            f"no reference for {counted(len(surplus), 'list')} of {len(ids)} ({some_of(surplus)}): left out"
        )
    return list(wanted) if lost else shared, lost, findings


def _may_count_from_1(references: Texts, shared: Sequence[str]) -> str:
    """The end of a finding about lists or outputs that lack the first line, though they may have ids from 1."""
    from_0 = references.counted and references.form == "lines" and next(iter(references.by_id)) == "0"
    return FROM_1 if from_0 and min(map(int, shared), default=0) == 1 else ""


def _by_id(system: Texts, references: Texts, wanted: Sequence[str], lists: Sequence[str]) -> dict[str, str]:
    """The outputs of a system by the ids of the segments.

    Raises FormatError where only one side has names as ids, and where a system by position has not as many texts as
    there are segments.
    """
    of_references = references.by_id.keys() >= {*wanted}
    system = system.like(references) if of_references else system.beside(wanted)
    if not system.counted:
        return {id_: texts[0] for id_, texts in system.by_id.items()}
    texts = [own[0] for own in system.by_id.values()]
    numbered = all(map(is_number, wanted))
    if not numbered and not system.placed:
        raise FormatError(id_mismatch(system, wanted), path=system.path)
    if not numbered and [i for i in lists if i in {*wanted}] != [i for i in wanted if i in {*lists}]:
        wanted_ids = "wanted `utterance-id word word …` (kaldi) or `word word … (utterance-id)` (trn)"
        other = "its lines have no ids, and the lists are in another order than the references"
        raise FormatError(f"{other}: {wanted_ids}", path=system.path)
    order = next((order for order in (wanted, ids_of_lines(lists)) if len(order) == len(texts)), None)
    if order is None:
        raise FormatError(f"has {counted(len(texts), 'line')} but {references.path} has {len(wanted)}; they must match",
                          path=system.path)  # fmt: skip
    return dict(zip(order, texts, strict=True))


def _check_outputs(
    system: Texts, references: Texts, ids: Sequence[str], texts: Mapping[str, str], unpaired: Unpaired
) -> tuple[list[str], list[str]]:
    """The segments without an output, and the findings about them. Raises FormatError where they are an error."""
    known = frozenset(ids)
    shared, surplus = [i for i in texts if i in known], [i for i in texts if i not in known]
    missing = [i for i in ids if i not in texts]
    if surplus and not shared and id_mismatch(system, ids):
        raise missing_error(system, missing, ids)
    if surplus and unpaired != "leave-out":
        advice = _may_count_from_1(references, shared) or LEAVE_OUT
        named = some_of(surplus)
        which = named if named.startswith("segment ") else f"segment{'s' * (len(surplus) > 1)} {named}"
        raise FormatError(f"no reference for {which}{advice}", path=system.path)
    if not missing:
        return [], []
    of_all = f"{len(missing)} of {counted(len(ids), 'segment')} ({some_of(missing)})"
    if unpaired == "error" or not shared:
        raise FormatError(f"no output for {of_all}", path=system.path)
    what = "left out" if unpaired == "leave-out" else "counted as empty"
    return missing, [f"{system.path}: no output for {of_all}: {what}{_may_count_from_1(references, shared)}"]


def _check_lists(
    files: Sequence[str | Path], lists: Sequence[NBestList], references: Sequence[Texts],
    of_segments: Mapping[str, tuple[str, ...]],
) -> None:  # fmt: skip
    """Raise FormatError where a file of references is one of the lists and has nothing but their hypotheses."""
    neutral = [one for one in references if not any(is_of_role(key, "reference") for key in one.read_by.split())]
    both = {*map(os.path.realpath, files)} & {os.path.realpath(reference.path) for reference in neutral}
    own = [nbest for nbest in lists if nbest.segment_id in of_segments]
    if both and all({*nbest.texts} <= {*of_segments[nbest.segment_id]} for nbest in own):
        alike = "has the same texts as references and as lists; expected two files, or a key of references"
        raise FormatError(alike, path=neutral[0].path)


def _check_other(system: Texts, references: Sequence[Texts]) -> None:
    """Raise FormatError for a system that is a file of references, read as these are: it would be scored by itself."""
    for reference in references:
        same = os.path.realpath(system.path) == os.path.realpath(reference.path)
        if same and (system.form, system.read_by) == (reference.form, reference.read_by):
            by_key = system.form == "json"
            told = f"is read by {system.read_by!r}" if by_key else "is read in the same way"
            key = f"{form_option('output')} json,key=KEY names that of the outputs"
            wanted = key if by_key else "expected two files"
            raise FormatError(f"{told} both as references and as a system; {wanted}", path=system.path)
