"""The objects that a config describes: the format of the lists, the extractors, the metrics, the tuner, the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel

from rerank_adapters.chain.builder import Builder
from rerank_adapters.chain.text_pipelines import text_pipeline
from rerank_adapters.evaluation.measure import Measure
from rerank_adapters.features.feature import Feature, columns_of, names_of
from rerank_adapters.job.config import Config, Table, plugin_options
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.margin import Margin
from rerank_plugins import ConfigError, FeatureExtractor, NBestFormat, Tuner
from rerank_plugins.core.guests.registrations import RESERVED
from rerank_plugins.core.loader import with_files
from rerank_plugins.core.registry import Registry

if TYPE_CHECKING:
    from rerank_adapters.chain.named_models import NamedModels


OURS = tuple(key for key in RESERVED["feature"] if key != "use")  # of a feature's table, no options of its plugin
OF_METRICS = tuple(key for key in RESERVED["metric"] if key != "use")
MARGIN = "margin"  # the key of a tuner's table that is not an option of the plugin
PARTS = ("format", "features", "measures", "tuner")  # that a config describes
SET = "{set}"  # what stands for the name of the data set in the file of a feature


@dataclass(frozen=True)
class Job:
    """A config and the plugins that it may name, as objects, which are made when they are first used.

    A job and its copies with other settings share equal objects.
    """

    config: Config
    registry: Registry
    shared: MutableMapping[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # see Builder

    @classmethod
    def create(cls, config: Config, registry: Registry) -> Job:
        """A job with the plugins of the registry and those in the config's `plugins` files."""
        registry = with_files(registry, [config.path(path) for path in config.plugins])
        return cls(config, registry)

    def changed(self, **tables: Any) -> Job:
        """The same job with other values of some keys of its config; None leaves a key as it is.

        Of a key with settings of its own, as `tuning`, a mapping has other values of some of them.
        """
        changes: dict[str, Any] = {}
        for key, value in tables.items():
            settings = getattr(self.config, key)
            if isinstance(settings, BaseModel) and isinstance(value, Mapping):
                new = {name: setting for name, setting in value.items() if setting is not None}
                changes[key] = settings.model_copy(update=new)
            elif value is not None:
                changes[key] = value
        return replace(self, config=self.config.model_copy(update=changes))

    def only(self, labels: Collection[str]) -> Job:
        """The same job with the features of these labels alone."""
        tables = zip(self.labels, self.config.feature, strict=True)
        return self.changed(feature=[table for label, table in tables if label in labels])

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
        return self if tables == self.config.feature else self.changed(feature=tables)

    def build(self, *parts: str) -> None:
        """Build these parts of the job, by default all, so that errors in their options come before any work."""
        for part in parts or PARTS:
            getattr(self, part)

    @cached_property
    def builder(self) -> Builder:
        """The builder of plugins, for which paths are relative to the config file."""
        return Builder(self.registry, self.config.base, self.config.named, self.config.language, self.shared)

    @cached_property
    def format(self) -> NBestFormat:
        """The format of the n-best files."""
        return cast(NBestFormat, self.builder.build("format", self.config.nbest, "[nbest]"))

    @cached_property
    def _tables(self) -> dict[str, tuple[Table, Table]]:
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
    def features(self) -> list[Feature]:
        """The features in the config's order, with their text pipelines."""
        texts, sources = self.pipelines("text"), self.pipelines("source_text")
        return [
            Feature(label, self.extractor(label), texts.get(label, TextPipeline()), sources.get(label, TextPipeline()))
            for label in self._tables
        ]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the features, in the config's order."""
        return tuple(self._tables)

    @property
    def columns(self) -> dict[str, list[str]]:
        """By label, the names of the columns of each feature."""
        return columns_of(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of all features."""
        return names_of(self.features)

    def extractor(self, label: str) -> FeatureExtractor:
        """The extractor of that label."""
        where = f"[[feature]] {label}"
        return cast(FeatureExtractor, self.builder.shared_object("feature", self._tables[label][0], where))

    def pipelines(self, key: str) -> dict[str, TextPipeline]:
        """By label, the pipeline of an extractor for hypotheses (`key` "text") or the source ("source_text")."""
        return {
            label: text_pipeline(self.config, ours[key], f"[[feature]] {label}", of_source=key == "source_text")
            for label, (_, ours) in self._tables.items()
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
        return Measure(
            str(ours.get("label", options["use"])), metric, text_pipeline(self.config, ours.get("text"), where)
        )

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
