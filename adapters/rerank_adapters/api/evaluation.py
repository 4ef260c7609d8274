"""`evaluate`: systems compared by metrics, with outputs, references and lists in memory or references in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rerank_adapters.api.jobs import job_of
from rerank_adapters.data.given import check_order, files_of, labels_of, lists_of, texts_by_id
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.frames import is_frame
from rerank_adapters.reranker import Reranked
from rerank_adapters.run.compare import compare_systems
from rerank_adapters.runtime.progress import counted, showing
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.texts.pairing import Unpaired, pair
from rerank_adapters.texts.texts import MAPPING, Texts
from rerank_plugins import ConfigError, FormatError, NBestList
from rerank_plugins.core.columns import one_line, plain


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
    job = job_of(metrics=metrics, seed=seed).changed(trust_pairs=trust_pairs)
    if not job.config.metric:
        raise ConfigError("wanted at least one metric, found none")
    lists = None if nbests is None else lists_of(nbests)
    given = None if lists is None else [nbest.segment_id for nbest in lists]
    texts = texts_by_id(references, reference_form, given)
    with_references = pair(texts, None, lists, unpaired).ids
    segments = with_references if lists is not None or files_of(references) else texts[0].ids
    order, labels = given or segments, labels_of(references)
    for name, value in systems.items():
        check_order(f"system {name!r}", labels_of(value), given or labels or segments)
    paired = pair(texts, {name: _outputs(name, value, order) for name, value in systems.items()}, lists, unpaired)

    def of_paired(what: str, values: object) -> list[Any] | None:
        """What is given for the segments, of those that are paired. Raises FormatError for another number of values."""
        if values is None:
            return None
        found = list(plain(values))
        if len(found) != len(segments):
            raise FormatError(f"{counted(len(found), what)} for {counted(len(segments), 'segment')}")
        check_order(f"{what}s", labels_of(values), labels or segments)
        by_id = dict(zip(segments, found, strict=True))
        return [by_id[id_] for id_ in paired.ids]

    of_groups, of_sources = of_paired("group", groups), of_paired("source", sources)
    with showing(progress):
        return compare_systems(job, paired, files=files_of(references), sources=of_sources, groups=of_groups)


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


def _outputs(name: str, value: Any, order: Sequence[str]) -> Texts:
    """The outputs of a system by the ids of segments; those of a sequence are for the ids in `order`."""
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
    if not texts:
        raise FormatError(f"{where}: no output at all")
    return Texts(where, {id_: (text,) for id_, text in texts.items()}, MAPPING, "output")
