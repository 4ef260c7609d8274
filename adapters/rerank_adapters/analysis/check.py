"""Checks a config and its data before any long work: what is missing, does not fit together, or looks odd.

All findings are reported, not only the first. An error would stop a run; a warning may spoil its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal, TypeVar

from rerank_adapters.analysis.estimate import Estimate, estimate, feature_costs, peak
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.lists import NO_SCORES, content_check, files_of, needs_ranks, with_ranks
from rerank_adapters.chain.provenance import extraction_of
from rerank_adapters.chain.systems import systems_of
from rerank_adapters.chain.tune import validate_tuning
from rerank_adapters.data.content import MAX_STYLED, TRUSTED, source_mismatches
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.overlap import overlap_with_tuning
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.unknown_words import of_feature
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.pairing import Purpose, pair_lists
from rerank_adapters.formats.references import read_references
from rerank_adapters.job.config import DataSet
from rerank_adapters.runtime.progress import counted, duration
from rerank_plugins import FeatureExtractor, RerankError
from rerank_plugins.kit.files.languages import models_of

Result = TypeVar("Result")
Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One line of a check: how serious the finding is, where it was made, and what it is."""

    level: Level
    where: str
    text: str


@dataclass
class Check:
    """The checks of a job; each adds what it finds to `findings`. With `costs`, what a run costs is estimated too."""

    job: Job
    costs: bool = False
    findings: list[Finding] = field(default_factory=list)
    estimated: Estimate | None = None
    _features: list[Feature] = field(default_factory=list)

    def run(self) -> list[Finding]:
        """Check everything in the order of a run; return the findings."""
        config = self.job.config
        sets = [("tune", config.tune)] if config.tune else []
        named = [*sets, *((test.name, test) for test in config.test)]
        readable = self._plugins(self.job.for_set(named[0][0]) if named else self.job)
        read = [(name, self._data(name, data)) for name, data in named if readable]
        present = [(name, data) for name, data in read if data is not None]
        if present and (guessed := self.job.format.guessed_name) not in (None, "moses"):
            self._add("ok", "[nbest]", f"the lists are read as {guessed}")
        if not sets and not config.test:
            self._add("error", "config", "neither [tune] nor [[test]] names any n-best lists")
        elif not sets and config.test[0].name != "lists":
            self._add("warning", "config", "there is no [tune] table, so `rerank run` has nothing to tune on")
        self._same_features(present)
        if config.tune and present and not self._failed(""):
            tuning = present[0][1]
            decoder = extraction_of(self.job).decoder_table(tuning.lists)
            job = with_ranks(self.job) if needs_ranks(self.job, tuning.lists) else self.job
            self._try("[tuning]", lambda: validate_tuning(job, tuning, decoder))
            for name, system in systems_of(job).items():
                self._try(f"[[system]] {name}", lambda system=system: validate_tuning(system, tuning, decoder))  # type: ignore[misc]
        for name, data in present:
            if config.tune and data is not present[0][1] and (warning := overlap_with_tuning(present[0][1], data)):
                self._add("warning", name, warning)
            self._texts(name, data)
            self._content(name, data, dict(named)[name].references)
            of_set = self.job.for_set(name)
            for label in (feature.label for feature in self._features):
                extractor = of_set.extractor(label)
                self._try(f"{name}: {label}", lambda check=extractor.check_lists, lists=data.lists: check(lists))  # type: ignore[misc]
        if self.costs and self._features and present and not self._failed(""):
            self._estimate([data for _, data in present])
        return self.findings

    def _plugins(self, job: Job) -> bool:
        """Build each plugin that the config names, by itself; return whether the lists can be read.

        `job` is the one for the first set, on which the features are measured.
        """
        if language := self.job.config.language:
            models = self._try("language", lambda: models_of(language)) or {}
            if models:
                self._add("ok", "language", f"{language}, with models of {', '.join(models)}")
        format_ = self._try("[nbest]", lambda: self.job.format)
        labels = self._try("[[feature]]", lambda: job.labels) or ()
        for label in labels:
            extractor = self._try(f"[[feature]] {label}", lambda label=label: _loaded(job.extractor(label)))  # type: ignore[misc]
            if extractor is not None:
                self._features.append(Feature(label, extractor))
        texts = self._try("[[feature]]", lambda: [job.pipelines(key) for key in ("text", "source_text")])
        if texts is not None:
            of_text, of_source = texts
            self._features = [
                replace(f, text=of_text.get(f.label, f.text), source=of_source.get(f.label, f.source))
                for f in self._features
            ]
        for position in range(len(job.config.metric)):
            self._try(f"[[metric]] {position + 1}", lambda position=position: job.measure(position))  # type: ignore[misc]
        if not self._failed("[[metric]]"):
            self._try("[[metric]]", lambda: job.measures)
        self._try("[tuner]", lambda: job.tuner)
        if not self._failed(""):
            self._try("[[system]]", lambda: systems_of(job))
        if all(finding.level == "ok" for finding in self.findings):
            uses = [*labels, *(measure.name for measure in job.measures), job.config.tuner["use"]]
            self._add("ok", "plugins", ", ".join(uses))
        return format_ is not None

    def _add(self, level: Level, where: str, text: str) -> None:
        self.findings.append(Finding(level, where, text))

    def _try(self, where: str, action: Callable[[], Result]) -> Result | None:
        """The result of the action; None where it raises an error, which becomes a finding."""
        try:
            return action()
        except RerankError as error:
            self._add("error", where, str(error).removeprefix(f"{where}: "))
            return None

    def _data(self, name: str, data: DataSet) -> Dataset | None:
        """The lists and references of a data set, with findings about both; None where the lists cannot be read."""
        files = files_of(self.job, data)
        purpose: Purpose = "tuning" if name == "tune" else "evaluation"
        lists = replace(files, references=())
        read = self._try(name, lambda: Dataset.read(name, lists, self.job.format, purpose))
        if read is None:
            return None
        distinct = sum(len(set(nbest.texts)) for nbest in read.lists)
        table = self._try(name, lambda: decoder_table(read.lists, getattr(self.job.format, "dense_rule", None)))
        if table is not None:
            features = counted(len(table.names), "feature")
            features += f", {len(table.sparse.names)} sparse" if table.sparse.names else ""
            texts = counted(distinct, "distinct text")
            self._add("ok", name, f"{read.size} ({texts}), {features}")
        if needs_ranks(self.job, read.lists):
            self._add("ok", name, NO_SCORES)
        for warning in self._oddities(read):
            self._add("warning", name, warning)
        references = None
        if files.references:
            references = self._try(name, lambda: read_references(files.references, files.reference_form))
        if references is None:
            if not files.references:
                level: Level = "error" if name == "tune" else "warning"
                self._add(level, name, "there are no references, so nothing can be tuned or evaluated")
            return read
        paired = self._try(name, lambda: pair_lists(read.lists, references, files.unpaired, purpose))
        for finding in paired.findings if paired else ():
            self._add("warning", name, finding)
        return Dataset.of(name, paired) if paired else read

    @staticmethod
    def _oddities(data: Dataset) -> Iterator[str]:
        """Warnings about lists that can be read but look wrong."""
        empty = sum(not h.text.strip() for nbest in data.lists for h in nbest)
        if empty:
            yield f"{counted(empty, 'hypothesis is', 'hypotheses are')} empty"
        single = sum(len(nbest) == 1 for nbest in data.lists)
        if single:
            yield f"{counted(single, 'list has', 'lists have')} a single hypothesis: nothing to choose"
        scores = [[h.score for h in nbest if h.score is not None] for nbest in data.lists]
        unsorted = sum(any(a < b for a, b in pairwise(totals)) for totals in scores)
        if unsorted:
            lists = counted(unsorted, "list is", "lists are")
            yield f"{lists} not sorted by the totals: the first hypothesis counts as the 1-best"

    def _same_features(self, sets: list[tuple[str, Dataset]]) -> None:
        """An error for each set whose decoder features differ from those of the first set."""
        if len(sets) < 2:
            return
        (first, data), *others = sets
        wanted = set(data.lists[0].feature_names)
        for name, other in others:
            has = set(other.lists[0].feature_names)
            if has != wanted:
                missing, extra = sorted(wanted - has), sorted(has - wanted)
                differences = f"without {missing or 'none'}, also {extra or 'none'}"
                self._add("error", name, f"other features than {first}: {differences}")

    def _texts(self, name: str, data: Dataset) -> None:
        """Warnings about words that models do not know."""
        texts = [nbest[0].text for nbest in data.lists[:MAX_STYLED]]
        for feature in self._features:
            for warning in of_feature(feature.label, feature.extractor, feature.text.apply(texts)):
                self._add("warning", name, warning)

    def _content(self, name: str, data: Dataset, references: Sequence[Path]) -> None:
        """Findings about content that does not fit the references, and about styles that differ from theirs."""
        for warning in self._try("[[feature]]", lambda: list(source_mismatches(self._features, data.lists))) or ():
            self._add("warning", name, warning)
        if not any(data.references) or self._failed("[[metric]]"):
            return
        content, texts = content_check(self.job), {"hypotheses": data.first_best}
        sources = data.known_sources
        doubts = self._try(
            name, lambda: [*content.doubts(texts, data.references, files=references, sources=sources, ids=data.ids)]
        )
        for doubt in doubts or ():
            refused = doubt.certain and not content.trusted
            self._add("error" if refused else "warning", name, f"{doubt.text}; {TRUSTED}" if refused else doubt.text)
        for measure in self.job.measures:
            if mismatch := content.mismatch(measure, "hypotheses", data.first_best, data.references):
                self._add("warning", name, mismatch)

    def _estimate(self, sets: list[Dataset]) -> None:
        """Lines about the time, memory and disk that a run takes."""
        before = peak()
        costs = self._try("[[feature]]", lambda: feature_costs(self._features, sets[0].lists))
        if costs is not None:
            nbests = [data.lists for data in sets]
            self.estimated = estimate(self.job, costs, nbests, peak() - before)
            for what, text in estimate_lines(self.estimated):
                self._add("ok", what, text)

    def _failed(self, where: str) -> bool:
        return any(finding.where.startswith(where) and finding.level == "error" for finding in self.findings)


def estimate_lines(estimated: Estimate) -> Iterator[tuple[str, str]]:
    """What an estimate says of time, memory, disk and kernels: pairs of subject and text."""
    total, distinct = estimated.cpu_seconds, counted(estimated.hypotheses, "distinct text")
    wall = duration(estimated.seconds)
    yield (
        "time",
        f"about {wall} to extract all features on {counted(estimated.processes, 'core')} ({duration(total)} of CPU)"
        f" if no value of the {distinct} is in the cache; tuning and evaluation come on top",
    )
    by_cost = sorted(estimated.costs, key=lambda cost: -cost.seconds)
    per_text = (f"{cost.label} {1000 * cost.seconds:.2g}" for cost in by_cost)
    sizes = [cost.measured for cost in estimated.costs]
    sample = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    yield "time", f"CPU milliseconds a text: {', '.join(per_text)} (measured on {sample} texts)"
    if estimated.memory:
        yield "memory", f"at most about {_megabytes(estimated.memory)}, models and lists included"
    kept = f", {_megabytes(estimated.kept)} of values in the cache" if estimated.kept else ""
    yield "disk", f"about {_megabytes(estimated.tables)} of feature tables{kept}"
    compiled = {kernel for cost in estimated.costs for kernel in cost.kernels}
    if compiled:
        spent = duration(sum(cost.loading for cost in estimated.costs if cost.kernels))
        few = ", ".join(sorted(compiled)[:4]) + (", …" if len(compiled) > 4 else "")
        yield "kernels", f"{counted(len(compiled), 'kernel')} compiled now, in {spent} of CPU time, and kept ({few})"


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.2g} MB" if size < 1e7 else f"{size / 1e6:.0f} MB"


def _loaded(extractor: FeatureExtractor) -> FeatureExtractor:
    """The extractor with its model, if it has one, loaded: a missing or damaged file is noticed now.

    Raises RerankError for such a file.
    """
    vocabulary = extractor.vocabulary
    if vocabulary is not None:
        vocabulary.__contains__("")
    return extractor
