"""`evaluate`: systems compared by metrics, with outputs, references and lists in memory or references in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rerank_adapters import evaluation
from rerank_adapters.data.content import warnings_of
from rerank_adapters.data.given import (
    OfSegment,
    check_order,
    files_of,
    labels_of,
    lists_of,
    pair_with,
    references_by_id,
    references_of,
)
from rerank_adapters.evaluation import Evaluation, SegmentFacts
from rerank_adapters.evaluation.baselines import with_highest_total
from rerank_adapters.formats.frames import is_frame
from rerank_adapters.formats.segment_ids import some_of
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import all_plugins, config_tables
from rerank_adapters.reranker import Reranked
from rerank_adapters.runtime.progress import counted, showing, warn
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.pairing import Unpaired, pair
from rerank_adapters.texts.reading import read_texts
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.columns import one_line, plain

Item = TypeVar("Item")


def evaluate(
    systems: Mapping[str, object],
    references: object,
    *,
    metrics: object = ("bleu", "chrf", "ter"),
    nbests: Iterable[NBestList] | None = None,
    groups: Sequence[str] | None = None,
    sources: Sequence[str | None] | None = None,
    seed: int = 1,
    reference_form: ReferenceForm = "auto",
    unpaired: Unpaired = "empty",
    trust_pairs: bool = False,
    progress: bool = False,
) -> Evaluation:
    """Compare systems (name -> outputs, the baseline first) by metrics, with significance tests.

    The outputs of a system are one text for each segment, the lists that a pipeline has reranked, lists whose first
    hypotheses count, or a mapping by segment id. `references` are as in `Pipeline.fit`; `metrics` are one or many, each
    as `load` takes it. With `nbests`, outputs are in the order of the lists, and the result has their oracle and
    anti-oracle. If the lists are not in the order of their totals, it has the hypotheses of the highest total, too, and
    where the baseline is the first hypotheses, the better of both becomes the baseline. `unpaired` is the rule for
    segments whose list or output is missing, and for those without a reference: "empty" counts an empty hypothesis or
    output for the former, which is logged, and refuses the latter; "leave-out" leaves both out, and "error" refuses
    both. `groups` has the group of each segment, such as its speaker. `sources` are the source sentences, for metrics
    that read them and for the report; by default those of the lists.

    Raises FormatError where outputs and references differ in number, with both numbers, and for a series of pandas
    whose index has the ids in another order; ConfigError where outputs and references do not belong together, unless
    `trust_pairs`; and TypeError for what are no outputs.

    >>> systems = {"1-best": ["so is it", "yes"], "reranked": ["so it is", "yes"]}
    >>> evaluate(systems, ["so it is", "yes"], metrics="wer")
    2 segments, differences to 1-best
    1-best    wer 50.00
    reranked  wer 0.00 (-50.00)
    """
    if not isinstance(systems, Mapping) or not systems:
        raise TypeError(f"wanted the outputs of systems by name, found {systems!r:.60}")
    for name, value in systems.items():
        _check_several(name, value)
    job = Job.of(Config(base=Path.cwd()), all_plugins())
    tables = config_tables(metrics, "metric", job.names)
    if not tables:
        raise ConfigError("wanted at least one metric, found none")
    job = job.changed(metric=tables, seed=seed, trust_pairs=trust_pairs)
    lists = None if nbests is None else lists_of(nbests)
    order = None if lists is None else [nbest.segment_id for nbest in lists]
    ids, texts, lists = _segments(references, lists, reference_form, unpaired)
    own_ids, facts = labels_of(references) or ids, dict[str, Any]()
    for what, given in {"group": groups, "source": sources}.items():
        facts[what] = None if given is None else list(plain(given))
        if given is not None and len(facts[what]) != len(ids):
            raise FormatError(f"{counted(len(facts[what]), what)} for {counted(len(ids), 'segment')}")
        check_order(f"{what}s", labels_of(given), own_ids)
    if sources is None and lists is not None:
        facts["source"] = [nbest.source for nbest in lists]
    for name, value in systems.items():
        check_order(f"system {name!r}", labels_of(value), order or own_ids)
    found = {name: _outputs(name, value, ids, order or ids, unpaired) for name, value in systems.items()}
    kept = [place for place in range(len(ids)) if all(outputs[place] is not None for outputs in found.values())]
    if ids and not kept:
        raise FormatError("no segment has an output of every system")

    def taken(values: Sequence[Item] | None) -> list[Item] | None:
        return None if values is None else [values[place] for place in kept]

    outputs = {name: [own[place] or "" for place in kept] for name, own in found.items()}
    ids, texts = [ids[place] for place in kept], [texts[place] for place in kept]
    named = {f"outputs of {name!r}": own for name, own in outputs.items()}
    warn(warnings_of(job.content_check().doubts(named, texts, files=files_of(references), ids=ids)))
    with showing(progress):
        resampling = job.config.evaluation.resampling(seed)
        kept_lists = taken(lists)
        of_segments = SegmentFacts(ids, taken(facts["source"]), taken(facts["group"]), kept_lists)
        rows = outputs if kept_lists is None else with_highest_total(outputs, kept_lists)
        return evaluation.evaluate(rows, texts, job.measures, resampling, of_segments)


def _segments(
    references: object, lists: Sequence[NBestList] | None, form: ReferenceForm, unpaired: Unpaired
) -> tuple[list[str], list[OfSegment], list[NBestList] | None]:
    """The ids of the segments that count, their references, and their lists if there are any."""
    if lists is not None:
        paired = pair_with(lists, references, form, unpaired=unpaired)
        warn(paired.findings)
        return paired.ids, paired.references, paired.lists
    if files := files_of(references):
        paired = pair([read_texts(file, "reference", form) for file in files])
        return paired.ids, paired.references, None
    if isinstance(references, Mapping):
        by_id = references_by_id(references).by_id
        return list(by_id), list(by_id.values()), None
    texts = references_of(references)
    return [str(place) for place in range(len(texts))], texts, None


def _check_several(name: str, value: object) -> None:
    if is_frame(value) or isinstance(value, str) or not isinstance(value, Iterable):
        shown = "a text" if isinstance(value, str) else one_line(value)
        shown = "a data frame: give a column, as frame['output']" if is_frame(value) else shown
        raise TypeError(f"system {name!r}: wanted a list of outputs, one for each segment, found {shown}")


def _output(one: Any) -> Any:
    """The text of a list in its present order; any other value as it is."""
    if isinstance(one, NBestList):
        return one[0].text if len(one) else ""
    return one.best if isinstance(one, Reranked) else one


def _outputs(name: str, value: Any, ids: Sequence[str], order: Sequence[str], unpaired: Unpaired) -> list[str | None]:
    """The output of each of the segments `ids`; those of a sequence are those of `order`. None is to be left out."""
    where = f"system {name!r}"
    texts: dict[str, Any]
    if isinstance(value, Mapping):
        texts = {str(id_): text for id_, text in value.items()}
    else:
        outputs = list(plain(value))
        if len(outputs) != len(order):
            raise FormatError(f"{where}: {counted(len(outputs), 'output')} for {counted(len(order), 'segment')}")
        ranked = [one.segment_id for one in outputs if isinstance(one, Reranked | NBestList)]
        own = ranked if len(ranked) == len(outputs) and set(ranked) == set(order) else order
        texts = dict(zip(own, map(_output, outputs), strict=True))
    if wrong := [text for text in texts.values() if not isinstance(text, str)]:
        raise TypeError(f"{where}: wanted texts, found {wrong[0]!r:.60}")
    known = set(ids)
    surplus, missing = [id_ for id_ in texts if id_ not in known], [id_ for id_ in ids if id_ not in texts]
    if surplus and unpaired != "leave-out":
        raise FormatError(f"{where}: no reference for the output of segment {some_of(surplus)}")
    if missing and not texts:
        raise FormatError(f"{where}: no output at all")
    given = set(order)
    if missing := [id_ for id_ in missing if id_ in given]:  # lists that are missing themselves were named before
        no_output = f"{where}: no output for {counted(len(missing), 'segment')} ({some_of(missing)})"
        if unpaired == "error":
            raise FormatError(no_output)
        warn([f"{no_output}: {'left out' if unpaired == 'leave-out' else 'counted as empty'}"])
    return [texts.get(id_, None if unpaired == "leave-out" else "") for id_ in ids]
