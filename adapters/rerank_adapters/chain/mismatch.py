"""Finds hypotheses that are not cased or tokenised as their references, with which no metric can compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rerank_adapters.chain.job import Job, Measure, through
from rerank_adapters.text import looks_like

SAMPLE = 1000  # texts of a set that are looked at
STYLES = {"bpe", "sentencepiece", "escaped", "lower-case", "upper-case", "tokenised", "detokenised"}


def style_mismatch(job: Job, systems: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]]) -> str | None:
    """A sentence on how the first system (by name) that differs from the references in style does so; else None.

    Texts are compared as each metric of the job sees them, through its text pipeline; the sentence names the first
    metric that sees a difference. None also where a segment has no reference.
    """
    if not all(references):
        return None
    for measure in job.measures:
        for name, texts in systems.items():
            if difference := measured_mismatch(job, measure, name, texts, references):
                return difference
    return None


def measured_mismatch(
    job: Job, measure: Measure, name: str, texts: Sequence[str], references: Sequence[Sequence[str]]
) -> str | None:
    """What differs in style between the texts called `name` and the references, as one metric sees them."""
    (hypotheses,) = through(measure.text, [texts[:SAMPLE]])
    (wanted,) = through(measure.text, [[text for several in references for text in several][:SAMPLE]])
    style, reference_style = looks_like(hypotheses) & STYLES, looks_like(wanted) & STYLES
    if style == reference_style:
        return None
    default = "" if "metric" in job.config.model_fields_set else ", the default metric,"
    looks = f"{name} look {_listed(style)}, references {_listed(reference_style)}"
    return f"{looks}, as {measure.name!r}{default} sees them: give the metric a text pipeline"


def _listed(styles: frozenset[str] | set[str]) -> str:
    return " and ".join(sorted(styles)) or "plain"
