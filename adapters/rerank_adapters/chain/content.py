"""Whether hypotheses and references belong together, by their content and by their style.

Every command that pairs files, and the Python API, ask here. Content that does not fit is an error unless the job
trusts its pairs (`--trust-pairs`, in a config `trust_pairs = true`). Doubtful content is a warning, and so is another
style than that of the references, with the text steps that would make both alike.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rerank_adapters.chain.job import Job, Measure, through
from rerank_adapters.evaluation.content import Doubt, doubts
from rerank_adapters.formats.nist.markup import first_alternative
from rerank_adapters.text import TextPipeline, steps_between, steps_towards, style_of, whole_words
from rerank_adapters.text.languages import language_of
from rerank_plugins import ConfigError, NBestList

logger = logging.getLogger(__name__)

SAMPLE = 1000  # texts whose style is looked at
COPIED = ("lexical-overlap", "untranslated")  # features that look for words of the source in hypotheses
TRUSTED = "if they are right, `--trust-pairs` (in a config `trust_pairs = true`) goes on all the same"


def check_content(
    job: Job,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    files: Sequence[str | Path] = (),
    sources: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    styles: bool = True,
) -> None:
    """Log warnings about texts (name -> one for each segment) and their references, which the `files` hold.

    With `styles` false, only the content is looked at. Raises ConfigError where texts and references do not belong
    together, unless the job trusts its pairs.
    """
    _log(content_warnings(job, systems, references, files=files, sources=sources, ids=ids, styles=styles))


def check_content_of_lists(
    job: Job,
    nbests: Sequence[NBestList],
    references: Sequence[Sequence[str]],
    files: Sequence[str | Path] = (),
    *,
    styles: bool = True,
) -> None:
    """The same of the 1-bests of lists, with their ids and their sources, if all have one."""
    _log(warnings_of_lists(job, nbests, references, files, styles=styles))


def warnings_of_lists(
    job: Job,
    nbests: Sequence[NBestList],
    references: Sequence[Sequence[str]],
    files: Sequence[str | Path] = (),
    *,
    styles: bool = True,
) -> list[str]:
    """The warnings of `check_content_of_lists`, without logging them."""
    systems, beside = {"hypotheses": [nbest[0].text for nbest in nbests]}, _beside(nbests)
    return content_warnings(job, systems, references, files=files, styles=styles, **beside)


def content_warnings(
    job: Job,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    files: Sequence[str | Path] = (),
    sources: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    styles: bool = True,
) -> list[str]:
    """The warnings of `check_content`, without logging them."""
    if not references or not all(references):
        return []
    warnings = []
    for doubt in content_doubts(job, systems, references, files=files, sources=sources, ids=ids):
        if doubt.certain and not job.config.trust_pairs:
            raise ConfigError(f"{doubt.text}; {TRUSTED}")
        warnings.append(doubt.text)
    if styles and (mismatch := style_mismatch(job, systems, references)):
        warnings.append(mismatch)
    return warnings


def doubts_of_lists(
    job: Job, nbests: Sequence[NBestList], references: Sequence[Sequence[str]], files: Sequence[str | Path] = ()
) -> Iterator[Doubt]:
    """The doubts of `content_doubts` about the 1-bests of lists."""
    systems = {"hypotheses": [nbest[0].text for nbest in nbests]}
    return content_doubts(job, systems, references, files=files, **_beside(nbests))


def content_doubts(
    job: Job,
    systems: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    *,
    files: Sequence[str | Path] = (),
    sources: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
) -> Iterator[Doubt]:
    """What speaks against each file of references, for each system.

    Texts are compared as they are, and where there is a doubt as the tuned metric sees them: its pipeline may make
    words of numerals, or classes of words.
    """
    for column in range(min(map(len, references), default=0)):
        wanted = [first_alternative(of_segment[column]) for of_segment in references]
        where = str(files[column]) if column < len(files) else "the references"
        for name, texts in systems.items():
            spoken = [first_alternative(text) for text in texts]
            found = doubts(spoken, wanted, sources=sources, ids=ids)
            if found and (text := job.measures[0].text).steps:
                found = doubts(text.apply(spoken), text.apply(wanted), sources=sources, ids=ids)
            yield from (Doubt(f"{name} and {where}: {doubt.text}", doubt.certain) for doubt in found)


def style_mismatch(job: Job, systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]]) -> str | None:
    """A sentence on how the first system (by name) that differs from the references in style does so; else None.

    Texts are compared as each metric of the job sees them, through its text pipeline; the sentence names the first
    metric that sees a difference.
    """
    for measure in job.measures:
        for name, texts in systems.items():
            if difference := measured_mismatch(job, measure, name, texts, references):
                return difference
    return None


def measured_mismatch(
    job: Job, measure: Measure, name: str, texts: Sequence[str], references: Sequence[Sequence[str]]
) -> str | None:
    """What differs in style between the texts called `name` and the references, as one metric sees them."""
    targets = [text for several in references for text in several][:SAMPLE]
    firsts = [list(map(first_alternative, some)) for some in (texts[:SAMPLE], targets)]
    hypotheses, wanted = through(measure.text, firsts)
    if not (steps := steps_between(hypotheses, wanted, job.config.language or language_of(wanted))):
        return None
    style, reference_style = style_of(hypotheses, wanted), style_of(wanted, hypotheses)
    default = "" if "metric" in job.config.model_fields_set else ", the default metric,"
    looks = f"{name} look {_listed(style)}, references {_listed(reference_style)}"
    advice = [*measure.text.steps, *(step for step in steps if step not in measure.text.steps)]
    return f"{looks}, as {measure.name!r}{default} sees them: give the metric text = {advice}"


def source_mismatches(job: Job, nbests: Sequence[NBestList]) -> Iterator[str]:
    """What differs in style between sources and hypotheses, as each feature that looks for common words reads them."""
    sources = [nbest.source for nbest in nbests[:SAMPLE] if nbest.source is not None]
    hypotheses = [nbest[0].text for nbest in nbests[:SAMPLE]]
    language = language_of(whole_words(sources))
    pipelines = [job.pipelines(key) for key in ("source_text", "text")]
    for label, table in zip(job.labels, job.config.feature, strict=True):
        if table.get("use") not in COPIED or not sources:
            continue
        of_source, of_text = (by_label.get(label, TextPipeline()) for by_label in pipelines)
        left, right = of_source.apply(sources), of_text.apply(hypotheses)
        if steps := steps_towards(left, right, language):
            looks = f"sources look {_listed(style_of(left, right))}, hypotheses {_listed(style_of(right, left))}"
            advice = [*of_source.steps, *(step for step in steps if step not in of_source.steps)]
            yield f"{looks}, as {label!r} sees them: give the feature source_text = {advice}"


def _beside(nbests: Sequence[NBestList]) -> dict[str, list[str]]:
    """The ids of lists, and their sources if all have one."""
    sources = [nbest.source for nbest in nbests if nbest.source is not None]
    named = {"ids": [nbest.segment_id for nbest in nbests]}
    return named | ({"sources": sources} if len(sources) == len(nbests) else {})


def _log(warnings: Sequence[str]) -> None:
    for warning in warnings:
        logger.warning("rerank: warning: %s", warning)


def _listed(styles: frozenset[str] | set[str]) -> str:
    return " and ".join(sorted(styles)) or "plain"
