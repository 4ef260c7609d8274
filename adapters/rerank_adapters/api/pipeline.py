"""`Pipeline`: features, a tuner and a metric; after `fit`, weights by which lists are reranked.

It is a job, and does what `rerank extract`, `tune`, `apply` and `explain` do, with lists, references and plugins in
memory. Its weights are the same file, so that a command applies what a program has fitted, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any, Self

from rerank_adapters.api.jobs import job_of
from rerank_adapters.apply import Pair, pairs_of, rerank
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.data.given import files_of, lists_of, numbered, pair_with
from rerank_adapters.features.tables import RECORDED
from rerank_adapters.job.config import Config, read_config
from rerank_adapters.job.job import TUNE, Job
from rerank_adapters.job.models import all_plugins, labelled
from rerank_adapters.report.explanation import Explanation
from rerank_adapters.reranker import Reranked
from rerank_adapters.run.explain import explain
from rerank_adapters.run.learn import TuningOutcome, compare_tuners, features_of, learn
from rerank_adapters.runtime.progress import showing, warn
from rerank_adapters.texts import ReferenceForm
from rerank_adapters.tuning.cross_validation import CrossValidation
from rerank_adapters.weights import Weights, read_weights, write_weights
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.columns import one_line
from rerank_plugins.core.errors import suggestion
from rerank_plugins.core.files import without_cache
from rerank_plugins.core.plugins import Registry

TABLE = Path("table")  # what messages call a table in memory
OBJECTS = "objects"  # the key of a provenance under which labels of objects are recorded


class Pipeline:
    """Extracts features of n-best lists, tunes their weights, and reranks lists by them.

    `features`  one or many, each as `load` takes it; a mapping gives them labels. The decoder's own come first
    `tuner`     chooses the weights; `metric` is the one that they are tuned for
    `text`      text steps that hypotheses go through before every feature that names none; by default none, as in the
                commands that read lists, which hold a decoder's tokens (functions on texts tokenise them)
    `language`  the code of the language whose models are used where none is named
    `jobs`      the number of processes, which changes no result
    `seed`      of the tuner's random choices
    `cache`     whether values and parses are kept on disk, as the commands keep them
    `config`    further settings, as a config has them (`from_config`)

    Parameters are kept as they were given, so that scikit-learn can clone a pipeline. Options are checked at once;
    models are read when they are first used. Nothing is printed, unless a method is told `progress=True`. Raises
    PluginError, ConfigError and TypeError as `load` does.

    >>> lists = [NBestList.from_texts(["so is it", "so it is"], [-1.0, -2.0]) for _ in range(4)]
    >>> pipeline = Pipeline("reciprocal-rank", tuner="mert", metric="wer").fit(lists, ["so it is"] * 4)
    >>> pipeline.predict(lists)[0].best
    'so it is'
    """

    def __init__(
        self,
        features: object = (),
        *,
        tuner: object = "mira",
        metric: object = "bleu",
        text: str | Sequence[str] | None = None,
        language: str = "",
        jobs: int = 2,
        seed: int = 1,
        cache: bool = True,
        config: Config | None = None,
    ) -> None:
        self.features, self.tuner, self.metric, self.text = features, tuner, metric, text
        self.language, self.jobs, self.seed, self.cache, self.config = language, jobs, seed, cache, config
        self._weights: Weights | None = None
        self._learnt: TuningOutcome | None = None
        self._build()

    def _build(self) -> None:
        job = job_of(
            self.features, tuner=self.tuner, metrics=[self.metric], text=self.text, language=self.language,
            jobs=self.jobs, seed=self.seed, config=self.config,
        )  # fmt: skip
        with self._settings(False):
            job.check()
        self._job = self._fitted_job = job

    @contextmanager
    def _settings(self, progress: bool) -> Iterator[None]:
        """In the block, progress is shown or not, and the cache used or not, whatever the caller's settings are."""
        with showing(progress), nullcontext() if self.cache else without_cache():
            yield

    @property
    def weights_(self) -> Weights:
        """The tuned weights. Raises ConfigError if there are none yet."""
        if self._weights is None:
            raise ConfigError("this pipeline is not fitted: call fit(nbests, references), or Pipeline.load(file)")
        return self._weights

    @property
    def tuning_(self) -> TuningOutcome:
        """How the weights were tuned: `result` has the trace and the restarts, `held_out` the gain on held-out lists.

        Raises ConfigError for a pipeline that is not fitted, or was loaded.
        """
        if self._learnt is None:
            what = "was loaded, and its file has no trace" if self._weights else "is not fitted"
            raise ConfigError(f"this pipeline {what}: call fit(nbests, references)")
        return self._learnt

    def transform(self, nbests: Iterable[NBestList], *, progress: bool = False) -> FeatureTable:
        """The features of all hypotheses, the decoder's first; the pipeline need not be fitted.

        >>> lists = [NBestList.from_texts(["so it is", "so"], features={"lm": [-3.0, -1.0]})]
        >>> table = Pipeline("length").transform(lists)
        >>> table.names, table.values.tolist()
        (('lm', 'length'), [[-3.0, 3.0], [-1.0, 1.0]])
        """
        lists = lists_of(nbests)
        with self._settings(progress):
            extraction = self._job.extraction()
            extraction.log_ranks(lists)
            return extraction.table(lists)

    def fit(
        self,
        nbests: Iterable[NBestList],
        references: object,
        *,
        table: FeatureTable | None = None,
        reference_form: ReferenceForm = "auto",
        trust_pairs: bool = False,
        progress: bool = False,
    ) -> Self:
        """Tune the weights on lists and their references, and return the pipeline.

        `references` are texts in the order of the lists (several of a segment as a sequence), a mapping by segment id,
        a file or several files. `table` has features that are extracted already. Raises FormatError where lists and
        references differ in number, and ConfigError where they do not belong together, unless `trust_pairs`.

        >>> lists = [NBestList.from_texts(["so is it", "so it is"]) for _ in range(4)]
        >>> Pipeline("reciprocal-rank", tuner="mert", metric="wer").fit(lists, ["so it is"] * 4).tuning_.result.score
        0.0
        """
        with self._settings(progress):
            job, data, values = self._tuning_set(nbests, references, table, reference_form, trust_pairs)
            learnt = learn(job, data, values, Path.cwd())
        self._fitted_job, self._learnt, self._weights = job, learnt, learnt.weights
        return self

    def cross_validate(
        self,
        nbests: Iterable[NBestList],
        references: object,
        folds: int = 5,
        *,
        table: FeatureTable | None = None,
        reference_form: ReferenceForm = "auto",
        trust_pairs: bool = False,
        progress: bool = False,
    ) -> CrossValidation:
        """The score of choices on held-out folds of the lists, beside those of the 1-best and of untuned weights.

        >>> lists = [NBestList.from_texts(["so is it", "so it is"]) for _ in range(4)]
        >>> pipeline = Pipeline("reciprocal-rank", tuner="mert", metric="wer")
        >>> result = pipeline.cross_validate(lists, ["so it is"] * 4, folds=2)
        >>> {row["name"]: round(row["held_out"], 1) for row in result.table()}
        {'mert': 0.0, '1-best': 66.7, 'equal weights': 66.7}
        """
        with self._settings(progress):
            job, data, values = self._tuning_set(nbests, references, table, reference_form, trust_pairs)
            tuners = {job.tuner_name: job.tuner}
            return compare_tuners(job, data, values, tuners, folds, [self.seed])

    def predict(
        self, nbests: Iterable[NBestList], *, table: FeatureTable | None = None, progress: bool = False
    ) -> list[Reranked]:
        """The lists in their new order; `table` has features that are extracted already.

        Raises ConfigError for a pipeline that is not fitted, for other features than those of the weights, and, with
        the feature and the list, where a feature needs a source or totals that the list lacks.
        """
        lists, extraction = lists_of(nbests), self._fitted_job.extraction()
        with self._settings(progress):
            if table is None:
                return list(self._reranked(extraction.stream(lists)))
            return list(self._reranked(pairs_of(lists, extraction.columns(lists, table, TABLE, all_columns=True))))

    def predict_iter(self, stream: Iterable[NBestList], *, progress: bool = False) -> Iterator[Reranked]:
        """Yield each list in its new order as soon as it has come, in the order of arrival and in bounded memory."""
        ranked = self._reranked(self._fitted_job.extraction().stream(numbered(stream), at_once=True))
        return self._step_by_step(ranked, progress)

    def score(
        self,
        nbests: Iterable[NBestList],
        references: object,
        *,
        reference_form: ReferenceForm = "auto",
        progress: bool = False,
    ) -> float:
        """The score of the new 1-bests by the tuned metric, negated for an error rate: higher is better.

        Scikit-learn's searches and cross-validations compare pipelines by it. `evaluate` gives scores as they are,
        with intervals and tests. Raises what `predict` raises, and FormatError as `fit` does.

        >>> lists = [NBestList.from_texts(["so is it", "so it is"]) for _ in range(4)]
        >>> pipeline = Pipeline("reciprocal-rank", tuner="mert", metric="wer").fit(lists, ["so it is"] * 4)
        >>> pipeline.score(lists, ["so it is yes"] * 4)
        -25.0
        """
        lists = lists_of(nbests)
        paired = pair_with(lists, references, reference_form, "tuning")
        best = {ranked.segment_id: ranked.best for ranked in self.predict(lists, progress=progress)}
        measure = self._fitted_job.measures[0]
        texts, sources = [[best[id_]] for id_ in paired.ids], [nbest.source for nbest in paired.lists or ()]
        totals = measure.statistics(texts, paired.references, sources).sum(axis=0)
        score = float(measure.metric.score(totals))
        return score if measure.metric.higher_is_better else 0.0 - score  # and not -0.0

    def _reranked(self, pairs: Iterable[Pair]) -> Iterator[Reranked]:
        job, weights = self._fitted_job, self.weights_
        ranked = rerank(pairs, weights, job.measures[0], features=job.features(), form=job.format)
        return (Reranked(*one) for one in ranked)

    def _step_by_step(self, ranked: Iterator[Reranked], progress: bool) -> Iterator[Reranked]:
        """The same lists; between two of them, the settings of this pipeline are not those of the caller."""
        while True:
            with self._settings(progress):
                reranked = next(ranked, None)
            if reranked is None:
                return
            yield reranked

    def explain(
        self, reranked: Reranked, first: str = "best", second: str = "first", *, references: tuple[str, ...] = ()
    ) -> Explanation:
        """Why one hypothesis of a reranked list beats another: contributions of features, scores of words, trees.

        `first` and `second` are "best", "first" (the decoder's 1-best), "second", a rank in the decoder's order, the
        text of a hypothesis or, with `references`, "oracle" and "worst".
        """
        if not isinstance(reranked, Reranked):
            raise TypeError(f"wanted one list of those that predict returns, found {one_line(reranked)}")
        job, nbest = self._fitted_job, reranked.nbest
        with self._settings(False):
            return explain(
                nbest,
                job.extraction().table([nbest]),
                reranked.rescored,
                references,
                (first, second),
                weights=self.weights_,
                features=job.features(),
                measures=job.measures,
                form=job.format,
                models=job.language_models,
            )

    def save(self, path: str | Path) -> None:
        """Write the weights, with all that makes their features, as `rerank tune` does. Raises ConfigError as `fit`."""
        weights, job, folder = self.weights_, self._fitted_job, Path(path).absolute().parent
        record = job.record(folder, "feature", "metric")
        objects = {OBJECTS: sorted(job.objects)} if job.objects else {}
        write_weights(replace(weights, provenance={**weights.provenance, RECORDED: record, **objects}), path)

    @classmethod
    def load(cls, path: str | Path, *, objects: object = (), **parameters: Any) -> Pipeline:
        """The fitted pipeline of a weights file, which `save` or a command wrote; `parameters` are those of Pipeline.

        `objects` are plugins of classes of your own, one, many or by label: the file has their labels alone. Raises
        FormatError for a damaged file, ConfigError and PluginError where its features cannot be made.
        """
        weights, registry = read_weights(path), all_plugins()
        given, record = labelled(objects) if objects != () else {}, weights.provenance
        if lacking := [label for label in record.get(OBJECTS, ()) if label not in given]:
            known = f"{lacking[0]!r} is an object of a class of your own"
            raise ConfigError(f"{path}: {known}: give it, as in Pipeline.load({str(path)!r}, objects=[{lacking[0]}()])")
        job = Job.of_record(record, Path(path).absolute(), registry)
        own = {"seed": record.get("seed", 1), "tuner": recorded_tuner(record, registry)}
        pipeline = cls._of_job(job, given, **{**own, **parameters})
        pipeline._weights = weights
        return pipeline

    @classmethod
    def from_config(cls, path: str | Path, system: str | None = None, **parameters: Any) -> Pipeline:
        """The pipeline that a config describes, or one of its systems; its data sets are read by `read_nbest`."""
        config = read_config(Path(path).absolute())
        job = Job.of(config, all_plugins())
        if system is not None:
            systems = {own.name: own for own in job.systems[:-1]}
            if system not in systems:
                raise ConfigError(f"{path}: no system named {system!r}{suggestion(system, systems)}")
            job = systems[system]
        return cls._of_job(job, **{"seed": config.seed, "jobs": config.jobs, **parameters})

    @classmethod
    def _of_job(cls, job: Job, objects: Mapping[str, object] = {}, **parameters: Any) -> Pipeline:
        """The pipeline of a job, in which objects stand for the labels that a record has of them."""
        config = job.config
        features: Any = list(config.feature)
        if objects:
            features = {table.get("label", table["use"]): objects.get(table["use"], table) for table in features}
        metric = objects.get(config.metric[0]["use"], config.metric[0])
        own = {"tuner": config.tuner, "metric": metric, "language": config.language, "config": config}
        return cls(features, **{**own, **parameters})

    def _tuning_set(
        self,
        nbests: Iterable[NBestList],
        references: object,
        table: FeatureTable | None,
        form: ReferenceForm,
        trust_pairs: bool,
    ) -> tuple[Job, Dataset, FeatureTable]:
        """What a tuning reads: the job with what a table records, the lists with references, and their features."""
        lists = lists_of(nbests)
        job = self._job.changed(trust_pairs=trust_pairs or None)
        job = job if table is None else job.of_table(table, TABLE)
        paired = pair_with(lists, references, form, "tuning")
        data = Dataset.of(TUNE, paired).checked(job.content_check(), files_of(references))
        warn([*data.findings, *data.doubts])
        return job, data, features_of(job, data, table, TABLE)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  scikit-learn's signature
        """The parameters of the constructor by name, as scikit-learn asks for them.

        >>> Pipeline("length", seed=2).get_params()["seed"]
        2
        """
        return {name: getattr(self, name) for name in DEFAULTS}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters of the constructor; the pipeline is then not fitted.

        Raises what the constructor raises, and ConfigError for unknown names; nothing is changed then.

        >>> Pipeline("length").set_params(tuner="pro").tuner
        'pro'
        """
        for name in parameters:
            if name not in DEFAULTS:
                raise ConfigError(f"a pipeline has no parameter {name!r}{suggestion(name, DEFAULTS)}")
        changed = type(self)(**(self.get_params() | parameters))  # checks all of them before any is changed
        self.__dict__.update(changed.__dict__)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn's searches ask for: references are wanted, and are neither classes nor numbers."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def __repr__(self) -> str:
        """The constructor call, with the parameters that are not the defaults; of a config, only that there is one."""
        given = {k: v for k, v in self.get_params().items() if type(v) is not type(DEFAULTS[k]) or v != DEFAULTS[k]}
        shown = [f"{k}={'…' if k == 'config' else repr(_by_name(v))}" for k, v in given.items()]
        return f"Pipeline({', '.join(part.removeprefix('features=') for part in shown)})"

    def __getstate__(self) -> dict[str, Any]:
        config = self._fitted_job.config
        features = [part.table(config.base, objects=True) for part in self._fitted_job.parts("feature")]
        of_table = {"feature": features, "nbest": config.nbest, "language": config.language}  # that `fit` was given
        own = {"_weights": self._weights, "_learnt": self._learnt, "_fitted": of_table}
        return self.get_params() | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        changes = state.pop("_fitted")
        self.__dict__.update(state)
        self._build()
        self._fitted_job = self._job.changed(**changes)


_own = list(signature(Pipeline).parameters.values())
DEFAULTS: Mapping[str, Any] = {parameter.name: parameter.default for parameter in _own}


def _by_name(value: Any) -> Any:
    """A parameter with names in the place of tables that have nothing else."""
    if isinstance(value, Mapping):
        return value["use"] if value.keys() == {"use"} else {key: _by_name(item) for key, item in value.items()}
    return [_by_name(item) for item in value] if isinstance(value, list) else value


def recorded_tuner(provenance: Mapping[str, Any], registry: Registry) -> dict[str, Any] | str:
    """The table of the tuner that weights record, or the name of the usual one where they record no registered one."""
    for entry in registry.entries["tuner"].values():
        if provenance.get("tuner") == entry.place.replace(":", "."):
            options = provenance.get("options", {})
            known = options if isinstance(options, Mapping) else {}
            chosen = {o.name: known[o.name] for o in entry.options() if known.get(o.name, o.default) != o.default}
            return {"use": entry.name} | chosen
    return "mira"
