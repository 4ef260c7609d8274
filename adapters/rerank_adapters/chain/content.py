"""Whether hypotheses and references belong together, by their content and by their style.

Every command that pairs files, and the Python API, ask here. Content that does not fit is an error unless the job
trusts its pairs (`--trust-pairs`, in a config `trust_pairs = true`). Doubtful content is a warning, and so is another
style than that of the references, with the text steps that would make both alike.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.chain.job import Job
from rerank_adapters.evaluation.content import Doubt, doubts
from rerank_adapters.evaluation.measure import Measure, through
from rerank_adapters.formats.nist.markup import first_alternative
from rerank_adapters.text import steps_between, steps_towards, style_of, whole_words
from rerank_adapters.text.languages import language_of
from rerank_plugins import ConfigError, NBestList

logger = logging.getLogger(__name__)

SAMPLE = 1000  # texts whose style is looked at
COPIED = ("lexical-overlap", "untranslated")  # features that look for words of the source in hypotheses
TRUSTED = (
    "if they are right, `--trust-pairs` (in a config `trust_pairs = true`, in Python `trust_pairs=True`) goes on all"
    " the same"
)


@dataclass(frozen=True)
class PairedTexts:
    """Texts to check against their references.

    `systems` has one text for each segment by the name of the system, `references` the references of each segment,
    which the `files` hold. `sources` and `ids` are those of the segments, if they are known.
    """

    systems: Mapping[str, Sequence[str]]
    references: Sequence[Sequence[str]]
    files: Sequence[str | Path] = ()
    sources: Sequence[str | None] | None = None
    ids: Sequence[str] | None = None

    @classmethod
    def of_lists(
        cls, nbests: Sequence[NBestList], references: Sequence[Sequence[str]], files: Sequence[str | Path] = ()
    ) -> PairedTexts:
        """The 1-bests of lists, with the ids of the lists, and their sources if all have one."""
        sources = [nbest.source for nbest in nbests if nbest.source is not None]
        return cls(
            {"hypotheses": [nbest[0].text for nbest in nbests]},
            references,
            files,
            sources if len(sources) == len(nbests) else None,
            [nbest.segment_id for nbest in nbests],
        )

    def check(self, job: Job, *, styles: bool = True) -> None:
        """Log the warnings. With `styles` false, only the content is looked at.

        Raises ConfigError where texts and references do not belong together, unless the job trusts its pairs.
        """
        for warning in self.warnings(job, styles=styles):
            logger.warning("rerank: warning: %s", warning)

    def warnings(self, job: Job, *, styles: bool = True) -> list[str]:
        """The warnings of `check`, without logging them."""
        if not self.references or not all(self.references):
            return []
        warnings = []
        for doubt in self.doubts(job):
            if doubt.certain and not job.config.trust_pairs:
                raise ConfigError(f"{doubt.text}; {TRUSTED}")
            warnings.append(doubt.text)
        if styles and (mismatch := style_mismatch(job, self.systems, self.references)):
            warnings.append(mismatch)
        return warnings

    def doubts(self, job: Job) -> Iterator[Doubt]:
        """What speaks against each file of references, for each system.

        Texts are compared as they are, and where there is a doubt as the tuned metric sees them: its pipeline may make
        words of numerals, or classes of words.
        """
        for column in range(min(map(len, self.references), default=0)):
            wanted = [first_alternative(of_segment[column]) for of_segment in self.references]
            where = str(self.files[column]) if column < len(self.files) else "the references"
            for name, texts in self.systems.items():
                spoken = [first_alternative(text) for text in texts]
                found = doubts(spoken, wanted, sources=self.sources, ids=self.ids)
                if found and (text := job.measures[0].text).steps:
                    found = doubts(text.apply(spoken), text.apply(wanted), sources=self.sources, ids=self.ids)
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
    if measure.ignores_case:
        hypotheses, wanted = ([text.lower() for text in some] for some in (hypotheses, wanted))
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
    for place, table in enumerate(job.config.feature):
        if table.get("use") not in COPIED or not sources:
            continue
        feature = job.features[place]
        of_source = feature.source
        left, right = of_source.apply(sources), feature.text.apply(hypotheses)
        if steps := steps_towards(left, right, language):
            looks = f"sources look {_listed(style_of(left, right))}, hypotheses {_listed(style_of(right, left))}"
            advice = [*of_source.steps, *(step for step in steps if step not in of_source.steps)]
            yield f"{looks}, as {feature.label!r} sees them: give the feature source_text = {advice}"


def _listed(styles: frozenset[str] | set[str]) -> str:
    return " and ".join(sorted(styles)) or "plain"
