"""A job: the format, the features, the metrics and the tuner that a config asks for, as objects.

Objects are made when they are first used; `check` makes all of them, so that errors in their options come before any
work. A job is never changed: another job is made of another config. Only commands, the Python API and `run` know a job;
the functions that they call take lists, features, measures, weights.

Feature tables and weights record a job (`record`): the tables of a config in which each plugin stands with all its
options. A file among these is named relative to the folder of the table or the weights, so that it can be moved as a
whole.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from rerank_adapters.data.content import ContentCheck
from rerank_adapters.data.dataset import Files
from rerank_adapters.evaluation.baselines import FIRST, HIGHEST_TOTAL
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature, check_label, names_of
from rerank_adapters.features.processes import Processes
from rerank_adapters.features.tables import RECORDED
from rerank_adapters.formats.catalogue import MOSES
from rerank_adapters.formats.recognition import format_of, shown_name
from rerank_adapters.job.config import Config, DataSet, Given
from rerank_adapters.job.parts import Part, label_of
from rerank_adapters.job.specs import SET, Names, Spec, split_table
from rerank_adapters.tuners.margin import Margin
from rerank_plugins import ConfigError, FeatureTable, FormatError, ModelError, NBestFormat, SentenceModel, Tuner
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.loader import with_files
from rerank_plugins.core.plugins import Registry

RERANKED = "reranked"  # the system with all features of the config
ROWS = (FIRST, HIGHEST_TOTAL, RERANKED, "oracle", "anti-oracle")  # rows of a report that are no `[[system]]`
TUNE = "tune"  # the tuning set, whatever name its table gives it: that name only stands for {set} in options
MARGIN = "margin"  # the key of a tuner's table that is no option of the plugin
DISTRIBUTIONS = "distributions"  # the key of a record under which the packages of plugins are


@dataclass(frozen=True)
class Job:
    """A config with the plugins that it may name; a system without some of its features is a job, too."""

    config: Config
    registry: Registry
    name: str = RERANKED
    recorded_in: Path | None = None  # the weights, or another file, that record the job
    _features: dict[tuple[str, str], Feature] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, config: Config, registry: Registry) -> Job:
        """The job of a config, with the plugins of a registry and those of the config's files."""
        return cls(config, with_files(registry, [config.path(path) for path in config.plugins]))

    def check(self) -> None:
        """Make all objects of the job. Raises ConfigError and PluginError for faults of their options."""
        _ = self.format, self.features(), self.measures, self.tuner, self.margin, self.systems

    def changed(self, **tables: Any) -> Job:
        """The same job with other values of some keys of its config; None leaves a key as it is.

        Of a key with settings of its own, as `tuning`, a mapping has other values of some of them.
        """
        changes = {key: value for key, value in tables.items() if value is not None}
        for key, value in changes.items():
            settings = getattr(self.config, key)
            if isinstance(settings, BaseModel) and isinstance(value, Mapping):
                changes[key] = settings.model_copy(update={k: own for k, own in value.items() if own is not None})
        return self._with(self.config.model_copy(update=changes), self.name)

    def _with(self, config: Config, name: str) -> Job:
        job = replace(self, config=config, name=name)
        if config.nbest is self.config.nbest and vars(self).get("nbest"):
            vars(job)["nbest"] = self.nbest  # what stdin shows is seen once
        return job

    @cached_property
    def names(self) -> Names:
        """The meaning of names in the config."""
        config = self.config
        tables = {"parser": config.parser, "language_model": config.language_model}
        return Names(self.registry, config.base, tables, config.text, config.language)

    @cached_property
    def nbest(self) -> Given:
        """The table of the lists' format: the config's or, where it names none, that of the format its files show.

        The first file decides; without any, the table is empty. Raises FormatError where that file shows no format.
        """
        config = self.config
        files = [config.path(path) for data in (config.tune, *config.test) if data for path in data.nbest]
        return config.nbest or (self.reading(files).config.nbest if files else {})

    def reading(self, files: Sequence[str | Path]) -> Job:
        """The job with the format of these lists: where its config names none, the one that the first file shows.

        Raises FormatError where that file shows none.
        """
        if self.config.nbest:
            return self
        return self.changed(nbest={"use": format_of(files[0], self.registry.factories("format"))})

    @cached_property
    def format(self) -> NBestFormat:
        """The format of the lists; Moses's where neither the config nor a file shows one."""
        if not self.nbest:
            return MOSES
        return cast(NBestFormat, Spec.read("format", self.nbest, self.names, "[nbest]").make())

    @property
    def tuner(self) -> Tuner:
        """The tuner."""
        return self._tuner_and_margin[0]

    @property
    def tuner_name(self) -> str:
        """The name of the tuner's plugin, or the class of an object that no plugin registers."""
        return label_of("tuner", self.config.tuner, self.names)

    @property
    def margin(self) -> Margin:
        """How far another hypothesis must lead the first; 0 where the tuner's table names no margin."""
        return self._tuner_and_margin[1]

    @cached_property
    def _tuner_and_margin(self) -> tuple[Tuner, Margin]:
        return self.tuner_and_margin(self.config.tuner, "[tuner]")

    def tuner_and_margin(self, given: Given, where: str) -> tuple[Tuner, Margin]:
        """The tuner of a table, and the margin in it. Raises ConfigError, which begins with `where`, for others."""
        own, ours, base = split_table("tuner", given)
        margin = ours.get(MARGIN, 0.0)
        is_number = isinstance(margin, int | float) and not isinstance(margin, bool) and margin >= 0
        if margin != "tuned" and not is_number:
            wanted = 'wanted "tuned", or a number of 0 or more (inf: keep all)'
            raise ConfigError(f"{where}: margin is {margin!r}; {wanted}")
        tuner = cast(Tuner, Spec.read("tuner", own, self.names, where, base).make())
        return tuner, "tuned" if margin == "tuned" else float(margin)

    @cached_property
    def measures(self) -> list[Measure]:
        """The metrics with their text steps; the first one is tuned."""
        return [self.measure(label) for label in self.given("metric")]

    def measure(self, label: str) -> Measure:
        """The metric of a label."""
        own = self.part("metric", label)
        return Measure(label, own.spec.make(), own.text)

    @property
    def labels(self) -> list[str]:
        """The labels of the features, in the config's order."""
        return list(self.given("feature"))

    def features(self, set_: str = SET) -> list[Feature]:
        """The features for a data set, whose name stands for {set} in their options."""
        return [self.feature(label, set_) for label in self.labels]

    def feature(self, label: str, set_: str = SET) -> Feature:
        """The feature of a label.

        Raises ConfigError, which names the file that records the job, if there is one, for a model that is missing.
        """
        if set_ == TUNE and self.config.tune is not None and "name" in self.config.tune.model_fields_set:
            set_ = self.config.tune.name
        if (label, set_) not in self._features:
            own = self.part("feature", label)
            spec = own.spec.of_set(set_)
            missing = [path for path in spec.paths() if SET not in str(path) and not path.exists()]
            if self.recorded_in and missing:
                advice = "move weights and models together"
                raise ConfigError(f"{self.recorded_in}: feature {label!r}: there is no {missing[0]}: {advice}")
            self._features[label, set_] = Feature(label, spec.make(), own.text, own.source)
        return self._features[label, set_]

    def parts(self, kind: str) -> list[Part]:
        """The features or the metrics."""
        return [self.part(kind, label) for label in self.given(kind)]

    def part(self, kind: str, label: str) -> Part:
        """The feature or the metric of a label. Raises ModelError, of a recorded job ConfigError, for a wrong model."""
        given = self.given(kind)
        where = f"[[{kind}]] {label if kind == 'feature' else list(given).index(label) + 1}"
        try:
            return Part.read(kind, given[label], self.names, where)
        except ModelError as error:
            if self.recorded_in is None:
                raise
            raise ConfigError(f"{self.recorded_in}: {kind} {label!r}: {error}") from None

    def given(self, kind: str) -> dict[str, Given]:
        """By label, what the config has for each feature or metric.

        Raises ConfigError for two of the same label, and for a label that does not fit into files of lists and weights.
        """
        by_label: dict[str, Given] = {}
        for number, given in enumerate(getattr(self.config, kind), 1):
            label = label_of(kind, given, self.names)
            use = None if isinstance(given, str) else given.get("use")
            is_object = not isinstance(use, str | None) and Spec.of(kind, use, self.names).is_object
            if is_object and label in {**by_label, **self.registry.known(kind)}:
                raise ConfigError(f"two {kind}s are called {label!r}: name them, as in {{name: plugin}}")
            if label in by_label:
                advice = "give one a label of its own"
                raise ConfigError(f"[[{kind}]] {number}: another {kind} has the label {label!r}; {advice}")
            if kind == "feature":
                check_label(label)
            by_label[label] = given
        return by_label

    @property
    def language_models(self) -> dict[str, SentenceModel]:
        """By name, the language models of the config, and those in the options of features."""
        named = {name: Spec.named("language_model", name, self.names, "") for name in self.config.language_model}
        inner = [spec for part in self.parts("feature") for spec in list(part.spec.all())[1:]]
        models: dict[str, SentenceModel] = {}
        for name, spec in (*named.items(), *((spec.entry.name, spec) for spec in inner)):
            if spec.entry.kind == "language_model" and all(spec.make() is not other for other in models.values()):
                models.setdefault(name, spec.make())
        return models

    @property
    def objects(self) -> dict[str, Any]:
        """By label, the features and metrics that no table makes again: a record has their labels alone."""
        parts = [*self.parts("feature"), *self.parts("metric")]
        return {own.label: own.spec.make() for own in parts if own.spec.is_object}

    def files(self, data: DataSet) -> Files:
        """The files of a data set, as paths to open."""
        path = self.config.path
        source, groups = (path(own) if own else None for own in (data.source, data.groups))
        lists, references = ([path(own) for own in several] for several in (data.nbest, data.references))
        return Files(lists, references, source, groups, data.reference_form, data.unpaired)

    def content_check(self, *, styles: bool = True) -> ContentCheck:
        """How texts are checked against their references; without `styles`, by their content alone."""
        default, config = "metric" not in self.config.model_fields_set, self.config
        return ContentCheck(self.measures, config.language, config.trust_pairs, default, styles)

    def extraction(self, set_: str = SET, scheduler: str = "") -> Extraction:
        """The extraction of features from the lists of a data set: by processes, or by the cluster of a scheduler.

        Tables of it record the job.
        """
        processes = Processes(self.config.jobs, scheduler)
        rule = getattr(self.format, "dense_rule", None)
        return Extraction(
            self.features(set_), rule, processes, lambda folder: self.record(folder, "feature"), self.config.ranks
        )

    @cached_property
    def systems(self) -> list[Job]:
        """The jobs of the `[[system]]` tables, first those without some of the features, and then this job itself.

        Raises ConfigError for a label that no feature has, a name that another row of the report has, a tuner's wrong
        options, and a system that differs in nothing.
        """
        systems: list[Job] = []
        for number, system in enumerate(self.config.system, 1):
            where = f"[[system]] {number}"
            names = [other.name for other in systems]
            if system.name in (*ROWS, *names):
                raise ConfigError(f"{where}: another row of the report is called {system.name!r}; give it its own name")
            if alike := [name for name in names if name_in_files(name) == name_in_files(system.name)]:
                both = f"{system.name!r} and {alike[0]!r}"
                raise ConfigError(f"{where}: the files of {both} would have the same names; give it its own name")
            if unknown := next((label for label in system.without if label not in self.labels), None):
                known = suggestion(unknown, self.labels)
                raise ConfigError(f"{where}: without: no feature labelled {unknown!r}{known}")
            if not (system.without or system.tuner is not None or system.tuning is not None):
                raise ConfigError(f"{where}: it is the reranked system; wanted `without`, `tuner` or `tuning`")
            if system.tuner is not None:
                self.tuner_and_margin(system.tuner, f"{where}: tuner")
            job = self.changed(tuner=system.tuner, tuning=system.tuning).without(system.without)
            systems.append(job._with(job.config, system.name))
        return [*sorted(systems, key=lambda job: len(job.labels) == len(self.labels)), self]

    def without(self, labels: Collection[str]) -> Job:
        """The job without the features of these labels and the constraints on their weights, and without systems."""
        gone = {name for label in labels for name in self.feature(label).names}
        features = [given for label, given in self.given("feature").items() if label not in labels]
        return self.changed(feature=features, tuning=self.config.tuning.without(gone), system=[])

    def record(self, folder: Path, *kinds: str) -> dict[str, Any]:
        """The tables of the plugins of these kinds ("feature", "metric"), for a file in a folder.

        They need nothing else: what the config names, such as a language model, stands where it is used.
        """
        tables: dict[str, Any] = {
            "language": self.config.language,
            "nbest": Spec.read("format", self.nbest, self.names, "[nbest]").table(folder) if self.nbest else {},
            "plugins": [os.path.relpath(file, folder) for file in self.registry.files],
        }
        parts = {kind: self.parts(kind) for kind in kinds}
        tables |= {kind: [own.table(folder) for own in several] for kind, several in parts.items()}
        used = [spec.entry for several in parts.values() for own in several for spec in own.spec.all()]
        tables[DISTRIBUTIONS] = [
            {"kind": entry.kind, "name": entry.name, "distribution": entry.distribution, "version": entry.version}
            for entry in dict.fromkeys(used)
            if entry.distribution
        ]
        return {key: table for key, table in tables.items() if table}

    @classmethod
    def of_record(cls, provenance: Mapping[str, Any], path: Path, registry: Registry) -> Job:
        """The job that is recorded in the file at `path`; a job without features where nothing is recorded.

        Raises ConfigError for a record that is not a valid config, as in weights edited by hand.
        """
        tables = provenance.get(RECORDED, {})
        distributions = tables.get(DISTRIBUTIONS, ()) if isinstance(tables, Mapping) else ()
        try:
            own = {key: value for key, value in tables.items() if key != DISTRIBUTIONS}
            config = Config.model_validate({**own, "base": path.parent})
        except (ValidationError, AttributeError, TypeError) as error:
            problem = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": "wanted a table"}
            where = ".".join(map(str, ("provenance", RECORDED, *problem["loc"])))
            raise ConfigError(f"{path}: {where}: {problem['msg']}") from None
        job = cls.of(config, registry)
        try:
            return replace(job, registry=job.registry.with_recorded(distributions), recorded_in=path)
        except (KeyError, TypeError):
            where = ".".join(("provenance", RECORDED, DISTRIBUTIONS))
            raise ConfigError(f"{path}: {where}: wanted tables of kind, name, distribution and version") from None

    @contextmanager
    def reading_lists(self, named: str | None = None) -> Iterator[None]:
        """In the block, the error of a file that shows another format than the one that is recorded says so.

        `named` is the format that a user names instead, of which nothing is said.
        """
        try:
            yield
        except FormatError as error:
            recorded, shown = label_of("format", self.config.nbest, self.names), shown_name(error.path)
            if named or self.recorded_in is None or shown in (None, recorded):
                raise
            other = f"{self.recorded_in} records the format {recorded!r}, and the file shows {shown!r}"
            raise FormatError(
                f"{error.message}; {other}: name it with --format {shown}", path=error.path, line=error.line
            ) from None

    def of_table(self, table: FeatureTable, path: Path) -> Job:
        """The job with the features that are recorded in the table at `path`, unless it names features of its own.

        Where it names a feature by a label of the table, that feature is meant with the options recorded for it. The
        format, the language and the plugins recorded there complete the job. Raises ConfigError where the table lacks
        columns that it records.
        """
        config, recorded = self.config, Job.of_record(table.provenance, path, self.registry)
        record = recorded.record(config.base, "feature")
        by_label = dict(zip(recorded.labels, record.get("feature", []), strict=True))
        by_name = {label: own for label, own in by_label.items() if label not in recorded.registry.known("feature")}
        bare = [given if isinstance(given, str) or len(given) > 1 else given["use"] for given in config.feature]
        named = [by_name.get(name, given) if isinstance(name, str) else given
                 for name, given in zip(bare, config.feature, strict=True)]  # fmt: skip
        changes: dict[str, Any] = {"feature": named or list(by_label.values())}
        changes["language"] = config.language or recorded.config.language
        if "nbest" not in config.model_fields_set:
            changes["nbest"] = record.get("nbest")
        job = replace(self.changed(**changes), registry=recorded.registry)
        missing = [name for name in names_of(job.features()) if name not in table.names] if not named else []
        if missing:
            raise ConfigError(f"{path}: the feature table lacks {', '.join(missing)}: extract these features first")
        return job


def name_in_files(system: str) -> str:
    """The name of a system as the names of its files have it, with hyphens in place of spaces."""
    return "-".join(system.split())
