"""Pairs lists and outputs with references by ids: the one place that finds segments which only one of them has.

The references say which segments there are. A segment whose list or output is not there, since a decoder lost it, is
*missing*; a list without a reference is *surplus*. The rule `Unpaired` says how both are treated:

    empty      a missing segment counts as an empty hypothesis in an evaluation, and tuning leaves it out; a surplus
               list is an error, since its ids or the references are wrong
    leave-out  the segments that both have are taken, the others are left out
    error      both are errors

Whatever is left out or counted as empty is named by a finding, a sentence that commands print as a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rerank_adapters.formats.markup import check_same_places
from rerank_adapters.formats.references import NUMBERED, References
from rerank_adapters.formats.segment_ids import ids_of_lines, order_of_ids, some_of
from rerank_adapters.runtime.progress import counted
from rerank_plugins import FormatError, Hypothesis, NBestList

logger = logging.getLogger(__name__)
Unpaired = Literal["empty", "leave-out", "error"]
Purpose = Literal["tuning", "evaluation"]
LEAVE_OUT = "; `--unpaired leave-out` takes the segments that both have (in a config, `unpaired`)"
EMPTY = (Hypothesis(""),)  # the hypotheses of a lost list


@dataclass(frozen=True)
class Pairing:
    """The ids of the segments of two sides: those that both have, those of the first alone, and of the other alone.

    All are in the order of the side that has them; `shared` is in the order of the second.
    """

    shared: list[str]
    missing: list[str]
    surplus: list[str]


def pair(wanted: Sequence[str], present: Sequence[str]) -> Pairing:
    """The segments that are wanted, by references for instance, against those that are present.

    >>> pair(["0", "1", "2"], ["3", "2", "0"])
    Pairing(shared=['2', '0'], missing=['1'], surplus=['3'])
    """
    known, there = frozenset(wanted), frozenset(present)
    shared = [id_ for id_ in present if id_ in known]
    return Pairing(shared, [id_ for id_ in wanted if id_ not in there], [id_ for id_ in present if id_ not in known])


def warn(findings: Sequence[str]) -> None:
    """Log each finding as a warning."""
    for finding in findings:
        logger.warning("rerank: warning: %s", finding)


@dataclass(frozen=True)
class PairedLists:
    """Lists in their order, the references of each, and the references of the `lost` ones that count as empty.

    `ids` are the segments that an evaluation counts: those of the lists or, where lists are lost, all in the order of
    the references. `findings` are sentences about unpaired segments.
    """

    nbests: list[NBestList]
    references: list[tuple[str, ...]]
    ids: list[str]
    lost: dict[str, tuple[str, ...]]
    findings: tuple[str, ...] = ()

    @classmethod
    def without_references(cls, nbests: Sequence[NBestList]) -> PairedLists:
        """Lists for which there are no references at all."""
        return cls(list(nbests), [() for _ in nbests], [nbest.segment_id for nbest in nbests], {})

    def with_lost(self) -> tuple[list[NBestList], list[tuple[str, ...]]]:
        """The list and the references of each of `ids`, where a lost list has the empty hypothesis alone."""
        lists = {nbest.segment_id: nbest for nbest in self.nbests}
        references = dict(zip(lists, self.references, strict=True)) | self.lost
        return [lists.get(id_) or NBestList(id_, EMPTY) for id_ in self.ids], [references[id_] for id_ in self.ids]


def pair_lists(
    nbests: Sequence[NBestList], references: References, unpaired: Unpaired = "empty", purpose: Purpose = "evaluation"
) -> PairedLists:
    """Pair lists, one per segment, with references, as the rule `unpaired` says.

    Raises FormatError for surplus or missing lists where they are errors, for lists none of which has a reference, and
    as `References.for_segments` does.
    """
    ids = [nbest.segment_id for nbest in nbests]
    wanted = order_of_ids(references.ids_beside(ids))
    pairing = pair(wanted, ids)
    if pairing.surplus and (unpaired != "leave-out" or not pairing.shared):
        raise references.lacks(pairing.surplus, ids, advice=LEAVE_OUT if pairing.shared else "")
    no_list = f"no list for {len(pairing.missing)} of {counted(len(wanted), 'segment')} ({some_of(pairing.missing)})"
    if pairing.missing and unpaired == "error":
        raise FormatError(no_list, path=references.names[0])
    lost = pairing.missing if unpaired == "empty" and purpose == "evaluation" else []
    findings = []
    if pairing.missing:
        findings.append(f"{no_list}: {'counted as empty hypotheses' if lost else 'left out'}")
        findings[0] += _may_count_from_1(references, pairing)
    if pairing.surplus:
        surplus = counted(len(pairing.surplus), "list")
        findings.append(f"no reference for {surplus} of {len(ids)} ({some_of(pairing.surplus)}): left out")
    texts = dict(zip(taken := [*pairing.shared, *lost], references.for_segments(taken), strict=True))
    return PairedLists(
        [nbest for nbest in nbests if nbest.segment_id in texts],
        [texts[id_] for id_ in pairing.shared],
        wanted if lost else pairing.shared,
        {id_: texts[id_] for id_ in lost},
        tuple(findings),
    )


def _may_count_from_1(references: References, pairing: Pairing) -> str:
    """The end of a finding about lists or outputs that lack the first line, though they may have ids from 1."""
    ids = [*map(int, pairing.shared)] if references.form_for(pairing.shared) == "lines" else []
    return (
        ""
        if min(ids, default=0) != 1
        else "; if the ids count from 1, say `--reference-form lines-from-1` (in a config, `reference_form`)"
    )


@dataclass(frozen=True)
class PairedOutputs:
    """The segments that an evaluation counts: their ids, references, outputs of each system, and lists, if any."""

    ids: list[str]
    references: list[tuple[str, ...]]
    outputs: dict[str, list[str]]
    nbests: list[NBestList] | None
    findings: tuple[str, ...] = ()


def pair_all(
    references: References,
    systems: Mapping[str, References],
    nbests: Sequence[NBestList] | None = None,
    unpaired: Unpaired = "empty",
) -> PairedOutputs:
    """Pair the outputs of systems by name, and n-best lists if there are any, with references, as `unpaired` says.

    The segments are in the order of the lists or, without lists and where some are missing, of the references. Raises
    FormatError as `pair_lists` does, and for a file without ids whose number of lines fits nothing.
    """
    paired = pair_lists(nbests, references, unpaired) if nbests is not None else None
    ids = paired.ids if paired else order_of_ids(references.ids)
    lists, of_segments = paired.with_lost() if paired else (None, references.for_segments(ids))
    own_ids = [nbest.segment_id for nbest in nbests or ()]
    outputs = {name: _outputs_by_id(system, ids, references, own_ids) for name, system in systems.items()}
    findings = [*paired.findings] if paired else []
    left_out: set[str] = set()
    for name, texts in outputs.items():
        pairing, path = pair(ids, list(texts)), systems[name].names[0]
        if pairing.surplus and not pairing.shared and systems[name].texts:
            raise systems[name].lacks(pairing.missing, ids)
        if pairing.surplus and unpaired != "leave-out":
            advice = _may_count_from_1(references, pairing) or LEAVE_OUT
            raise FormatError(
                f"no reference for the output of segment id {some_of(pairing.surplus)}{advice}", path=path
            )
        if pairing.missing:
            of_all = f"{len(pairing.missing)} of {counted(len(ids), 'segment')} ({some_of(pairing.missing)})"
            if unpaired == "error" or not pairing.shared:
                raise FormatError(f"no output for {of_all}", path=path)
            what = "left out" if unpaired == "leave-out" else "counted as empty"
            findings.append(f"{path}: no output for {of_all}: {what}{_may_count_from_1(references, pairing)}")
            left_out.update(pairing.missing if unpaired == "leave-out" else ())
    kept = [place for place, id_ in enumerate(ids) if id_ not in left_out]
    if not kept:
        raise FormatError("no segment has an output of every system", path=references.names[0])
    return PairedOutputs(
        [ids[place] for place in kept],
        [of_segments[place] for place in kept],
        {name: [texts.get(ids[place], "") for place in kept] for name, texts in outputs.items()},
        [lists[place] for place in kept] if lists is not None else None,
        tuple(findings),
    )


def _outputs_by_id(
    system: References, ids: Sequence[str], references: References, lists: Sequence[str]
) -> Mapping[str, str]:
    """The outputs of a system by id; a file without ids has a line for each segment, for each list, or by number."""
    if system.timed:
        return system.timed[0].outputs(ids, references.timed[0] if references.timed else None)
    system = system.as_system(ids, references.form_for(ids))
    if system.form not in NUMBERED:
        own = system.ids_beside(ids)
        return dict(zip(own, system.as_outputs(own), strict=True))
    if system.places and references.places:
        check_same_places(system.places, references.places, system.names[0], references.names[0])
    wanted = order_of_ids(references.ids_beside(ids))
    if lists and pair(wanted, lists).shared != pair(lists, wanted).shared:
        raise FormatError(
            "its lines have no ids, and the lists are in another order than the references: wanted"
            " `utterance-id word word …` (kaldi) or `word word … (utterance-id)` (trn)", path=system.names[0],
        )  # fmt: skip
    orders = wanted, ids, lists, ids_of_lines(lists), ids_of_lines(wanted)
    order = next((order for order in orders if len(order) == len(system)), None)
    if order is None:
        raise FormatError(f"{len(system)} lines, expected one for each of {len(ids)} segments", path=system.names[0])
    return dict(zip(order, (line[0] for line in system.lines), strict=True))
