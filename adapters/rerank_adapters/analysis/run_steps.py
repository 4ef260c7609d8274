"""The analyses of a run: what each feature contributes, how sure the weights are, and the report of each test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from rerank_adapters.chain.learn import method_of
from rerank_adapters.chain.run import RERANKED, TUNE, Run
from rerank_adapters.chain.run_steps import files_of_references, of_reranking, of_weights, with_lists
from rerank_adapters.chain.steps import Step
from rerank_adapters.evaluation import Evaluation, SegmentFacts, compare
from rerank_adapters.features.feature import names_of
from rerank_adapters.report.facts import RunFacts
from rerank_adapters.report.page import html_page
from rerank_adapters.run.page_facts import facts_of_tuning, with_lists_of
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.tuning import families, weight_intervals
from rerank_adapters.tuning.analyses import families_together, family_contributions, weights_with_intervals
from rerank_adapters.tuning.families import Contributions
from rerank_adapters.tuning.gain import HeldOutGain
from rerank_adapters.tuning.selection import selected_columns
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import FeatureTable, open_atomic

CONTRIBUTIONS, INTERVALS = "contributions.json", "intervals.json"  # files of the tuning that the reports show


@dataclass(frozen=True)
class Results:
    """What the analyses of a run have found.

    `evaluations` are those of each test set that has references, by name. `contributions` is what each family of
    features contributes on the tuning lists; None where it is not measured. `held_out` is what each system gains over
    the 1-bests on held-out tuning lists, where that is measured.
    """

    evaluations: dict[str, Evaluation]
    contributions: Contributions | None
    held_out: Mapping[str, HeldOutGain]


def results_of(run: Run) -> Results:
    """The results in the files of a run that has been done."""
    texts = {test: _reports(run, test)[0].read_text(encoding="utf-8") for test in run.sets if _is_evaluated(run, test)}
    recorded = {label: HeldOutGain.of_record(read_weights(run.weights(label)).provenance) for label in run.systems}
    return Results(
        {test: Evaluation.from_json(text) for test, text in texts.items()},
        families.from_json((run.folder / CONTRIBUTIONS).read_text(encoding="utf-8")),
        {label: known[0] for label, known in recorded.items() if known is not None},
    )


def analyses(run: Run, name: str) -> Iterator[Step]:
    """The steps that analyse a data set: two after the tuning, and the report of a test set with references."""
    if name == TUNE:
        yield contributions_step(run)
        yield intervals_step(run)
    elif _is_evaluated(run, name):
        yield report_step(run, name)


def contributions_step(run: Run) -> Step:
    """Measures what each family of features contributes to the tuned weights."""
    job, file = run.job, run.folder / CONTRIBUTIONS

    def inputs() -> str:
        tuned = read_weights(run.weights())
        measured = {
            "folds": job.config.evaluation.contribution_folds,
            "weights": [tuned.dense, tuned.sparse],
            "families": list(job.labels),
            "together": families_together(job.config.system, job.labels),
        }
        return of_weights(run, RERANKED, measured)

    def measure() -> None:
        weights, table = _tuned(run)
        data, together = run.validated_tuning, families_together(job.config.system, job.labels)
        folds = job.config.evaluation.contribution_folds
        result = family_contributions(
            data.lists, data.references, table, weights, method_of(job), folds=folds, together=together
        )
        with open_atomic(file) as stream:
            stream.write(families.as_json(result))

    return Step(TUNE, "contributions", inputs, [file], measure, [run.table(TUNE), run.weights()])


def intervals_step(run: Run) -> Step:
    """Measures how much the tuned weights depend on the segments that they were tuned on."""
    job, file, samples = run.job, run.folder / INTERVALS, run.job.config.evaluation.weight_samples
    samples = weight_intervals.usual_samples(job.tuner) if samples is None else samples

    def inputs() -> str:
        return of_weights(run, RERANKED, samples, read_weights(run.weights()).dense)

    def resample() -> None:
        weights, table = _tuned(run)
        data = run.validated_tuning
        rows = weights_with_intervals(data.lists, data.references, table, weights, method_of(job), samples)
        with open_atomic(file) as stream:
            stream.write(weight_intervals.as_json(rows, samples))

    return Step(TUNE, "weight intervals", inputs, [file], resample, [run.table(TUNE), run.weights()])


def report_step(run: Run, name: str) -> Step:
    """Evaluates all systems on a test set, and writes the report: JSON, and a page."""
    job, data, settings = run.job, run.sets[name], run.job.config.evaluation
    best = {label: run.best(name, label) for label in run.systems}
    shown = [run.folder / CONTRIBUTIONS, run.folder / INTERVALS]

    def inputs() -> str:
        own = {
            "best": best,
            "groups": job.config.path(data.groups) if data.groups else None,
            "name": [run.name, data.name],
            "references": files_of_references(job, data),
            "seed": job.config.seed,
            "tests": [settings.bootstrap, settings.randomisation, settings.resample_groups],
            "facts": shown,
            "explained": settings.explained,
            "reranking": of_reranking(run, name),
        }
        return with_lists(job, data, job.measures, own)

    def report() -> Iterator[str]:
        lists = run.lists(name)
        yield from (f"rerank: warning: {name}: {finding}" for finding in lists.findings)
        evaluation, tuned = _evaluation(run, name), read_weights(run.weights())
        table = FeatureTable.load(run.table(name))
        facts = with_lists_of(
            _facts(run, tuned),
            lists,
            table,
            evaluation,
            weights=tuned,
            features=job.features(name),
            measures=job.measures,
            form=job.format,
            models=job.language_models,
            explained=settings.explained,
        )
        page = html_page(evaluation, f"{run.name} · {name}" if run.name else name, facts=facts)
        for file, text in zip(_reports(run, name), (evaluation.to_json(), page), strict=True):
            with open_atomic(file) as stream:
                stream.write(text)

    return Step(name, "report", inputs, _reports(run, name), report, [*best.values(), run.weights(), *shown])


def _is_evaluated(run: Run, name: str) -> bool:
    return name != TUNE and bool(run.sets[name].references)


def _reports(run: Run, test: str) -> list[Path]:
    return [run.folder / f"{test}.report.{suffix}" for suffix in ("json", "html")]


def _tuned(run: Run) -> tuple[Weights, FeatureTable]:
    """The weights of the reranked system, and the columns of the tuning set's table that they are for."""
    weights = read_weights(run.weights())
    return weights, selected_columns(FeatureTable.load(run.table(TUNE)), names_of(run.job.features()), weights.dense)


def _facts(run: Run, tuned: Weights) -> RunFacts:
    """What is known of the tuning, from the files of its steps."""
    measured, intervals = ((run.folder / file).read_text(encoding="utf-8") for file in (CONTRIBUTIONS, INTERVALS))
    weights, samples = weight_intervals.from_json(intervals)
    facts = facts_of_tuning(tuned, run.name, run.job.tuner_name)
    contributions = families.from_json(measured)
    return replace(facts, system=RERANKED, contributions=contributions, weights=weights, samples=samples)


def _evaluation(run: Run, name: str) -> Evaluation:
    """The comparison of the decoder's 1-bests with those of each system, which are in its file."""
    outputs, data = run.outputs(name, *run.systems), run.lists(name).counted
    facts = SegmentFacts(data.ids, data.sources, data.groups)
    with StatusLine(f"evaluating {data.name}"):
        return compare(
            run.job.measures,
            {"1-best": data.first_best, **outputs},
            data.references,
            run.job.config.evaluation.resampling(run.job.config.seed),
            facts,
            lists=data.lists,
            pairs=[(RERANKED, system) for system in outputs if system != RERANKED],
        )
