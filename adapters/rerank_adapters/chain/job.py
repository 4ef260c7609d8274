"""Builds the objects of a config: format, extractors, metrics, tuner, text pipelines, models, and data."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rerank_adapters.chain.builder import Builder
from rerank_adapters.chain.data import Data
from rerank_adapters.chain.extraction.plan import Plan, column_names
from rerank_adapters.chain.measures import Measure
from rerank_adapters.config import Config, DataSet, Table, plugin_options
from rerank_adapters.formats.pairing import PairedLists, Purpose, pair_lists
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import read_references
from rerank_adapters.formats.sources import Sources
from rerank_adapters.runtime.progress import counted
from rerank_adapters.text import KINDS, TextPipeline, in_language, is_step, split_steps
from rerank_adapters.tuners.margin import Margin
from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    NBestFormat,
    Tuner,
)
from rerank_plugins.core.guests.registrations import RESERVED
from rerank_plugins.core.loader import with_files
from rerank_plugins.core.registry import Registry, suggestion

if TYPE_CHECKING:
    from rerank_adapters.chain.named_models import NamedModels

logger = logging.getLogger(__name__)

OURS = tuple(key for key in RESERVED["feature"] if key != "use")  # of a feature's table, no options of its plugin
OF_METRICS = tuple(key for key in RESERVED["metric"] if key != "use")
MARGIN = "margin"  # the key of a tuner's table that is not an option of the plugin
PARTS = ("format", "plan", "measures", "tuner", "systems")  # that a config describes
SET = "{set}"  # what stands for the name of the data set in the file of a feature


@dataclass(frozen=True)
class Job:
    """A config and the plugins that it may name. A job and its copies with other settings share equal objects."""

    config: Config
    registry: Registry
    shared: MutableMapping[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # see Builder

    @classmethod
    def create(cls, config: Config, registry: Registry) -> Job:
        """A job with the plugins of the registry and those in the config's `plugins` files."""
        registry = with_files(registry, [config.path(path) for path in config.plugins])
        features = [_itself(table, config, registry) for table in config.feature]
        return cls(config if features == config.feature else config.model_copy(update={"feature": features}), registry)

    def with_tests(self, bootstrap: int | None, randomisation: int | None, resample_groups: bool | None) -> Job:
        """The same job with other settings of the tests; None leaves a setting as it is."""
        numbers = {"bootstrap": bootstrap, "randomisation": randomisation, "resample_groups": resample_groups or None}
        settings = self.config.evaluation.model_copy(update={k: v for k, v in numbers.items() if v is not None})
        return self.with_config({"evaluation": settings})

    def with_tuning(self, start: str | None, fixed: Sequence[str] = (), *, select: bool = False) -> Job:
        """The same job with other start weights ("uniform", "decoder" or the path of a weights file), other fixed
        features or a selection of families; None, () and False change nothing.
        """
        changes: dict[str, Any] = {"fixed": list(fixed)} if fixed else {}
        if select:
            changes["select"] = True
        if start is not None:
            changes["start"] = start if start in ("uniform", "decoder") else str(Path(start).resolve())
        return self.with_config({"tuning": self.config.tuning.model_copy(update=changes)})

    def with_config(self, tables: Mapping[str, Any]) -> Job:
        """The same job with other values of some keys of its config."""
        return Job(self.config.model_copy(update=dict(tables)), self.registry, self.shared)

    def for_set(self, name: str) -> Job:
        """The job with `{set}` in the files of its features replaced by the name of a data set.

        `tune` is the tuning set, for which the name stands that the config gives it, if it does.
        """
        if name == "tune" and self.config.tune is not None and "name" in self.config.tune.model_fields_set:
            name = self.config.tune.name
        tables = [
            {key: value.replace(SET, name) if isinstance(value, str) else value for key, value in table.items()}
            for table in self.config.feature
        ]
        return self if tables == self.config.feature else self.with_config({"feature": tables})

    @cached_property
    def builder(self) -> Builder:
        """The builder of plugins, for which paths are relative to the config file."""
        return Builder(self.registry, self.config.base, self.config.named, self.config.language, self.shared)

    @cached_property
    def format(self) -> NBestFormat:
        """The format of the n-best files."""
        return cast(NBestFormat, self.builder.build("format", self.config.nbest, "[nbest]"))

    def pipeline(self, value: object, where: str, *, of_source: bool = False) -> TextPipeline:
        """The text pipeline of a value: the name of one in `[text]`, steps joined by `+`, or a list of both.

        None is a pipeline without steps. Steps change case as the config's language does, unless the text is that
        `of_source`. `where` names the place in errors. Raises ConfigError for a name that is neither a pipeline of the
        config nor a step.
        """
        steps: list[str] = []
        for name in self.text_names(value, where):
            if name in self.config.text:
                steps += split_steps(self.config.text[name])
            elif is_step(name):
                steps.append(name)
            else:
                known = suggestion(name, [*self.config.text, *KINDS])
                raise ConfigError(f"{where}: no text pipeline or step named {name!r}{known}")
        language = "" if of_source else self.config.language
        return TextPipeline([in_language(step, language) for step in steps], self.config.base)

    def text_names(self, value: object, where: str) -> tuple[str, ...]:
        """The steps and names of pipelines that a value lists, as `pipeline` reads them."""
        return (value,) if isinstance(value, str) and value in self.config.text else split_steps(value, where)

    @cached_property
    def _features(self) -> dict[str, tuple[Table, Table]]:
        """By label, the options of each feature and its keys `label`, `text` and `source_text`."""
        tables: dict[str, tuple[Table, Table]] = {}
        for number, table in enumerate(self.config.feature, 1):
            options, ours = plugin_options(table, *OURS)
            label = str(ours.get("label", options.get("use", "")))
            if label in tables:
                where = f"[[feature]] {number}"
                raise ConfigError(f"{where}: another feature has the label {label!r}; give one a label of its own")
            tables[label] = options, ours
        return tables

    @cached_property
    def extractors(self) -> dict[str, FeatureExtractor]:
        """The extractors by label, in the config's order."""
        return {label: self.extractor(label) for label in self._features}

    @property
    def plan(self) -> Plan:
        """What extracts the features: the extractors and their text pipelines."""
        return Plan(self.extractors, self.pipelines("text"), self.pipelines("source_text"))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the features, in the config's order."""
        return tuple(self._features)

    def with_only(self, labels: Collection[str]) -> Job:
        """The same job with the features of these labels alone."""
        tables = zip(self.labels, self.config.feature, strict=True)
        return self.with_config({"feature": [table for label, table in tables if label in labels]})

    def extractor(self, label: str) -> FeatureExtractor:
        """The extractor of that label."""
        where = f"[[feature]] {label}"
        return cast(FeatureExtractor, self.builder.shared_object("feature", self._features[label][0], where))

    def pipelines(self, key: str) -> dict[str, TextPipeline]:
        """By label, the pipeline of an extractor for hypotheses (`key` "text") or the source ("source_text")."""
        return {
            label: self.pipeline(ours[key], f"[[feature]] {label}", of_source=key == "source_text")
            for label, (_, ours) in self._features.items()
            if key in ours
        }

    @cached_property
    def measures(self) -> list[Measure]:
        """The metrics, the tuned one first."""
        measures = [self.measure(position) for position in range(len(self.config.metric))]
        name, times = Counter(measure.name for measure in measures).most_common(1)[0] if measures else ("", 0)
        if times > 1:
            raise ConfigError(f"[[metric]]: {times} are called {name!r}; give each a label of its own")
        return measures

    def measure(self, position: int) -> Measure:
        """The metric at a position (from 0) in the config."""
        where = f"[[metric]] {position + 1}"
        options, ours = plugin_options(self.config.metric[position], *OF_METRICS)
        metric = self.builder.shared_object("metric", options, where)
        return Measure(str(ours.get("label", options["use"])), metric, self.pipeline(ours.get("text"), where))

    @cached_property
    def tuner(self) -> Tuner:
        """The tuner with its options, without the margin."""
        return self.tuner_and_margin(self.config.tuner, "[tuner]")[0]

    @property
    def margin(self) -> Margin:
        """The margin of the tuner's table; 0 where it names none."""
        return self.tuner_and_margin(self.config.tuner, "[tuner]")[1]

    def tuner_and_margin(self, table: Table, where: str) -> tuple[Tuner, Margin]:
        """The tuner of a table, and the margin in it. Raises ConfigError, which begins with `where`, for others."""
        options, ours = plugin_options(table, MARGIN)
        margin = ours.get(MARGIN, 0.0)
        is_number = isinstance(margin, int | float) and not isinstance(margin, bool) and margin >= 0
        if margin != "tuned" and not is_number:
            raise ConfigError(
                f'{where}: margin is {margin!r}; wanted "tuned", or a number of 0 or more (inf: keep all)'
            )
        tuner = cast(Tuner, self.builder.shared_object("tuner", options, where))
        return tuner, "tuned" if margin == "tuned" else float(margin)

    @property
    def models(self) -> NamedModels:
        """The language models and parsers that commands name beside the features."""
        from rerank_adapters.chain.named_models import NamedModels  # reads headers of model files, which few jobs need

        return NamedModels(self.builder, self.config)

    @property
    def systems(self) -> dict[str, Job]:
        """By name, the job of each `[[system]]`: this one without some of its features, or with another tuning.

        Raises ConfigError for a label that no feature has, a name that another row of the report has, a tuner's wrong
        options, and a system that differs in nothing.
        """
        jobs: dict[str, Job] = {}
        for number, system in enumerate(self.config.system, 1):
            where = f"[[system]] {number}"
            if system.name in ("1-best", "reranked", "oracle", "anti-oracle", *jobs):
                raise ConfigError(f"{where}: another row of the report is called {system.name!r}; give it its own name")
            for label in system.without:
                if label not in self.labels:
                    unknown = f"without: no feature labelled {label!r}{suggestion(label, self.labels)}"
                    raise ConfigError(f"{where}: {unknown}")
            changes = {key: value for key in ("tuner", "tuning") if (value := getattr(system, key)) is not None}
            if not (changes or system.without):
                raise ConfigError(f"{where}: it is the reranked system; wanted `without`, `tuner` or `tuning`")
            if system.tuner is not None:
                self.tuner_and_margin(system.tuner, f"{where}: tuner")
            jobs[system.name] = self.with_config({**changes, "system": []}).without(system.without)
        return jobs

    def without(self, labels: Collection[str]) -> Job:
        """The same job without the features of these labels, and without the constraints on their weights."""
        left_out = {name for label in labels for name in column_names(label, self.extractors[label].components)}
        tuning = self.config.tuning
        kept = {
            "fixed": [name for name in tuning.fixed if name not in left_out],
            "lower": {name: bound for name, bound in tuning.lower.items() if name not in left_out},
            "upper": {name: bound for name, bound in tuning.upper.items() if name not in left_out},
            "start": tuning.start
            if isinstance(tuning.start, str)
            else {name: weight for name, weight in tuning.start.items() if name not in left_out},
        }
        remaining = self.with_only([label for label in self.labels if label not in labels])
        return remaining.with_config({"tuning": tuning.model_copy(update=kept), "system": []})

    def build(self, *parts: str) -> None:
        """Build these parts of the job, by default all, so that errors in their options come before any work."""
        for part in parts or PARTS:
            getattr(self, part)

    def read(self, data: DataSet, *, references: bool = True) -> Data:
        """Read the lists of a data set, merged where several files hold them, and pair them with their references."""
        source = Sources.read(self.config.path(data.source), data.reference_form) if data.source else None
        nbests = read_nbest(
            [self.config.path(path) for path in data.nbest], self.format, source, lines=data is not self.config.tune
        )
        groups = self.config.path(data.groups) if data.groups else None
        if not (references and data.references):
            return Data.of(data.name, PairedLists.without_references(nbests), groups)
        files = [self.config.path(path) for path in data.references]
        purpose: Purpose = "tuning" if data is self.config.tune else "evaluation"
        paired = pair_lists(nbests, read_references(files, data.reference_form), data.unpaired, purpose)
        return Data.of(data.name, paired, groups)


def _itself(table: Table, config: Config, registry: Registry) -> dict[str, Any]:
    """The table of a feature; for `ngram-lm` with the option `lm` of earlier versions, that language model's own."""
    if table.get("use") != "ngram-lm" or "lm" not in table:
        return dict(table)
    model = table["lm"]
    if not isinstance(model, Mapping):  # the name of a table of the config, or else of a plugin
        named = config.language_model.get(model)
        model = {"use": model} if named is None or registry.find("feature", model) is None else named
    name = model.get("use")
    logger.warning("a language model is a feature: use = %r, in place of use = 'ngram-lm' with lm = %r", name, name)
    return {"label": "ngram-lm", **{key: value for key, value in table.items() if key != "lm"}, **model}


def lists_size(segments: int, hypotheses: int) -> str:
    """The size of n-best lists, as `1 segment, 100 hypotheses`."""
    return f"{counted(segments, 'segment')}, {counted(hypotheses, 'hypothesis', 'hypotheses')}"
