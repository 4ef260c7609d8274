"""Checks a job before any long work: what is missing, does not fit together, or looks odd.

`rerank check` reports all findings, not only the first. An error would stop a run; a warning may spoil its result.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Literal, TypeVar, cast

from rerank_adapters.data.content import MAX_STYLED, source_mismatches
from rerank_adapters.data.dataset import Dataset, Files
from rerank_adapters.data.overlap import overlap_with_tuning
from rerank_adapters.evaluation.baselines import HIGHEST_TOTAL, baseline_positions
from rerank_adapters.features.extraction import represent_order
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.unknown_words import of_feature
from rerank_adapters.formats.decoder_features import RANKS_ADDED, decoder_table, without_scores
from rerank_adapters.formats.items import names_differ
from rerank_adapters.job.job import TUNE, Job
from rerank_adapters.job.parts import label_of
from rerank_adapters.run.costs import Costs
from rerank_adapters.run.learn import validate_tuning
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import by_remedy
from rerank_adapters.texts.pairing import Purpose
from rerank_plugins import ConfigError, RerankError
from rerank_plugins.kit.files.languages import models_of

Result = TypeVar("Result")
Level = Literal["ok", "warning", "error"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Finding:
    """One line of a check: how serious the finding is, where it was made, and what it is; `error` would stop a run."""

    level: Level
    where: str
    text: str
    error: RerankError | None = None


Findings = Generator[Finding, None, Result]  # with what is found out besides


def attempt(where: str, action: Callable[[], Result]) -> Findings[Result | None]:
    """The result of the action; None where it raises an error, which is a finding."""
    try:
        return action()
    except RerankError as error:
        yield Finding("error", where, str(error).removeprefix(f"{where}: "), error)
        return None


def each(level: Level, where: str, texts: Iterable[str]) -> Iterator[Finding]:
    """Findings of a level about the same place."""
    yield from (Finding(level, where, text) for text in texts)


def raise_first(findings: Iterable[Finding]) -> None:
    """Raise the first error among findings, as a run does, after the warnings before it are logged."""
    for finding in findings:
        if finding.error is not None:
            raise finding.error
        if finding.level == "warning":
            logger.warning("%s", finding.text)


@dataclass
class Check:
    """What a check has found, in the order of a run, and what the features cost, if that was wanted."""

    findings: list[Finding] = field(default_factory=list)
    costs: Costs | None = None

    def take(self, findings: Findings[Result]) -> Result:
        """Keep all findings; what is found out besides."""
        while True:
            try:
                self.findings.append(next(findings))
            except StopIteration as end:
                return cast(Result, end.value)

    def failed(self, where: str = "") -> bool:
        """Whether there is an error at such a place."""
        return any(finding.where.startswith(where) and finding.level == "error" for finding in self.findings)


def check(job: Job, *, costs: bool = False) -> Check:
    """Check everything that a job names. With `costs`, what its features cost is measured too."""
    config, found = job.config, Check()
    sets = {TUNE: config.tune} if config.tune is not None else {}
    sets |= {test.name: test for test in config.test}
    if (language := config.language) and (models := found.take(attempt("language", lambda: models_of(language)))):
        found.findings.append(Finding("ok", "language", f"{language}, with models of {', '.join(models)}"))
    features = found.take(plugin_findings(job, next(iter(sets), TUNE), load=True))
    if not found.failed():
        found.take(attempt("[[system]]", lambda: job.systems))
    if all(finding.level == "ok" for finding in found.findings):
        uses = [*job.labels, *(measure.name for measure in job.measures), job.tuner_name]
        found.findings.append(Finding("ok", "plugins", ", ".join(uses)))
    data: dict[str, Dataset] = {}
    for name, files in sets.items() if not found.failed("[nbest]") else ():
        if (read := found.take(_data_set(job, name, job.files(files), features))) is not None:
            data[name] = read
    if data and not config.nbest and (shown := label_of("format", job.nbest, job.names)) != "moses":
        found.findings.append(Finding("ok", "[nbest]", f"the lists are read as {shown}"))
    if not sets:
        found.findings.append(Finding("error", "config", "neither [tune] nor [[test]] names any n-best lists"))
    elif TUNE not in sets and config.test[0].name != "lists":
        text = "there is no [tune] table, so `rerank run` has nothing to tune on"
        found.findings.append(Finding("warning", "config", text))
    if TUNE in data:
        found.findings += set_findings(data[TUNE], (read for name, read in data.items() if name != TUNE))
        if not found.failed():
            found.findings += tuning_findings(job, data[TUNE])
    unknown = [
        (name, words)
        for name, read in data.items()
        for feature in features
        for words in of_feature(feature, read.first_best[:MAX_STYLED])
    ]
    for names, text in by_remedy(unknown):
        found.findings.append(Finding("warning", ", ".join(names), text))
    for name, read in data.items():
        found.take(_content(job, features, read, job.files(sets[name]), compare=not found.failed("[[metric]]")))
        for feature in features:
            extractor = job.feature(feature.label, name).extractor
            found.take(attempt(f"{name}: {feature.label}", partial(extractor.check_lists, read.lists)))
    found.findings = list(_joined(found.findings))
    if costs and features and data and not found.failed():
        lists = [read.lists for read in data.values()]
        found.costs = found.take(attempt("[[feature]]", lambda: Costs.of(features, lists, config.jobs)))
        if found.costs is not None:
            found.findings += each("ok", "time", found.costs.lines())
    return found


def _joined(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, of which equal warnings about several data sets are one."""
    places: dict[Finding, list[str]] = {}
    for finding in findings:
        key = replace(finding, where="") if finding.level == "warning" else finding
        places.setdefault(key, []).append(finding.where)
    yield from (replace(finding, where=", ".join(dict.fromkeys(where))) for finding, where in places.items())


def plugin_findings(job: Job, set_: str, *, load: bool = False) -> Findings[list[Feature]]:
    """Make each plugin that the config names, by itself; the features for a data set that can be made.

    With `load`, the models of features are loaded too: a missing or damaged file is noticed now.
    """
    yield from attempt("[nbest]", lambda: job.format)
    features = []
    for label in (yield from attempt("[[feature]]", lambda: job.labels)) or ():
        made = partial(job.feature, label, set_)
        feature = yield from attempt(f"[[feature]] {label}", lambda made=made: _loaded(made()) if load else made())  # type: ignore[misc]
        features += [] if feature is None else [feature]
    for number, label in enumerate((yield from attempt("[[metric]]", lambda: job.given("metric"))) or (), 1):
        yield from attempt(f"[[metric]] {number}", partial(job.measure, label))
    yield from attempt("[tuner]", lambda: job.tuner)
    return features


def _loaded(feature: Feature) -> Feature:
    """The feature with its model loaded, if it has one: a missing or damaged file is noticed now."""
    if (vocabulary := feature.extractor.vocabulary) is not None:
        vocabulary.__contains__("")
    return feature


def set_findings(tuning: Dataset, tests: Iterable[Dataset]) -> Iterator[Finding]:
    """Test sets with other decoder features than the tuning set, which are errors, or with the same segments."""
    wanted = tuning.lists[0].feature_names
    for test in tests:
        if difference := names_differ(wanted, test.lists[0].feature_names):
            text = f"other decoder features than the tuning lists: {difference}"
            yield Finding("error", test.name, text, ConfigError(f"{test.name}: {text}"))
        yield from each("warning", test.name, filter(None, [overlap_with_tuning(tuning, test)]))


def tuning_findings(job: Job, tuning: Dataset) -> Iterator[Finding]:
    """What would stop the tuning of a job, and of its systems."""
    *others, _ = job.systems
    for system in (job, *others):
        decoder = system.extraction().decoder_table(tuning.lists)
        where = "[tuning]" if system is job else f"[[system]] {system.name}"
        yield from attempt(where, partial(validate_tuning, system, tuning, decoder))


def _data_set(job: Job, name: str, files: Files, features: Sequence[Feature]) -> Findings[Dataset | None]:
    """The lists and references of a data set, with findings about both; None where the lists cannot be read."""
    purpose: Purpose = "tuning" if name == TUNE else "evaluation"
    alone = replace(files, references=())
    read = yield from attempt(name, lambda: Dataset.read(name, alone, job.format, purpose))
    if read is None:
        return None
    table = yield from attempt(name, lambda: decoder_table(read.lists, getattr(job.format, "dense_rule", None)))
    if table is not None:
        distinct = counted(sum(len(set(nbest.texts)) for nbest in read.lists), "distinct text")
        sparse = f", {len(table.sparse.names)} sparse" if table.sparse.names else ""
        yield Finding("ok", name, f"{read.size} ({distinct}), {counted(len(table.names), 'feature')}{sparse}")
    if job.config.ranks and without_scores(read.lists) and not represent_order(features):
        yield Finding("ok", name, RANKS_ADDED)
    yield from each("warning", name, _oddities(read))
    if not files.references:
        level: Level = "error" if name == TUNE else "warning"
        yield Finding(level, name, "there are no references, so nothing can be tuned or evaluated")
        return read
    paired = yield from attempt(name, lambda: files.paired(read.lists, purpose))
    if paired is None:
        return read
    yield from each("warning", name, paired.findings)
    return Dataset.of(name, paired)


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
        counts = "the first hypothesis counts as the 1-best"
        if HIGHEST_TOTAL in baseline_positions(data.lists):
            counts = f"{counts}, and gains are over that of the highest total where it is better"
        yield f"{counted(unsorted, 'list is', 'lists are')} not sorted by the totals: {counts}"


def _content(job: Job, features: Sequence[Feature], data: Dataset, files: Files, *, compare: bool) -> Findings[None]:
    """Findings about content that features do not fit and, to `compare`, that does not fit the references."""
    mismatches = yield from attempt("[[feature]]", lambda: list(source_mismatches(features, data.lists)))
    yield from each("warning", data.name, mismatches or ())
    if not any(data.references) or not compare:
        return
    texts, sources = {"hypotheses": data.first_best}, data.known_sources
    doubts = job.content_check().doubts(texts, data.references, files=files.references, sources=sources, ids=data.ids)
    for doubt in (yield from attempt(data.name, lambda: [*doubts])) or ():
        yield Finding("error" if doubt.certain else "warning", data.name, doubt.text)
