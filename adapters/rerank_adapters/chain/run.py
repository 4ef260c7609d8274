"""Runs the whole job of a config: extracts, tunes, reranks and evaluates, with all files in the work folder.

Systems that do without some features come first, one after another with all test sets, since their features are the
cheap ones: a first table of scores stands before the other features are extracted.

A step whose inputs have not changed since an earlier run, and whose files are as that run wrote them, is not repeated
(steps.py). Lists are read only for a step that needs them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from rerank_adapters.chain import weight_intervals
from rerank_adapters.chain.apply import apply_weights, table_pairs
from rerank_adapters.chain.content import PairedTexts
from rerank_adapters.chain.contributions import as_json, family_contributions, from_json
from rerank_adapters.chain.data import Data
from rerank_adapters.chain.evaluate import compare
from rerank_adapters.chain.extract import chosen_columns, dense_rule, feature_table
from rerank_adapters.chain.facts import facts_of_tuning, with_lists
from rerank_adapters.chain.job import Job, Measure, lists_size, through
from rerank_adapters.chain.list_facts import ListFacts, unlike_tuning
from rerank_adapters.chain.lists import wanted_by, with_wanted
from rerank_adapters.chain.overlap import overlap_with_tuning
from rerank_adapters.chain.run_files import CONTRIBUTIONS, FACTS, INTERVALS, RERANKED, TUNE, system_file
from rerank_adapters.chain.steps import (
    RECORD,
    Print,
    Step,
    Steps,
    inputs_of_contributions,
    inputs_of_features,
    inputs_of_lists,
    inputs_of_report,
    inputs_of_reranking,
    inputs_of_weight_intervals,
    inputs_of_weights,
)
from rerank_adapters.chain.tune import columns_of, families, learn, rehearse
from rerank_adapters.config import DataSet
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.formats.writing import open_lists
from rerank_adapters.report.held_out_gain import from_record
from rerank_adapters.report.html import html_page
from rerank_adapters.report.run_facts import Contributions, HeldOut, RunFacts
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.weights import Weights, read_weights, trees_file, write_weights
from rerank_plugins import ConfigError, FeatureTable, NBestList, open_atomic

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """The result of a run: by name, an evaluation of each test set that has references.

    `contributions` is what each family of features contributes on the tuning lists; None where it is not measured.
    `held_out` is what each system gains over the 1-bests on held-out tuning lists, where that is measured.
    `files` are all files that belong to the run, and `written` those that are new.
    """

    evaluations: dict[str, Evaluation]
    contributions: Contributions | None = None
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()

    @property
    def pages(self) -> tuple[Path, ...]:
        """The HTML pages among the files: the report with every segment, one for each evaluation."""
        return tuple(file for file in self.files if file.suffix == ".html")


def plan(job: Job, work: Path, *, force: bool = False, name: str = "") -> list[tuple[Step, bool]]:
    """The steps of `run` in their order, each with whether it would be skipped as unchanged; none of them is done.

    Lists are read where the record does not know them. Raises ConfigError for wrong settings.
    """
    record = Steps(work, force)
    running = _Run.of(job, work, name, record)
    steps = [step for label in running.first for step in running.first_steps(label)]
    return list(record.plan([*steps, *(step for set_name in running.sets for step in running.steps(set_name))]))


def run(job: Job, work: Path, show: Print, *, force: bool = False, name: str = "") -> Outcome:
    """Do the whole job, and write feature tables, weights, 1-bests, reranked lists and reports to `work`.

    Steps that an earlier run has done, and whose inputs have not changed, are not repeated unless `force`. `show` is
    called with each line about the progress of the job, and `name` is that of the job in its reports. Raises
    ConfigError for wrong settings before any work.
    """
    record = Steps(work, force)
    running = _Run.of(job, work, name, record)
    steps: list[Step] = []
    done: list[Step] = []
    for label in running.first:
        first = running.first_steps(label)
        steps += first
        if new := [step for step in first if record.do(step, show)]:
            done += new
            for line in running.first_scores(label):
                show(line)
    for set_name, data in running.sets.items():
        rest = running.steps(set_name)
        of_set = [*(step for step in steps if step.set == set_name), *rest]
        steps += rest
        done += [step for step in rest if record.do(step, show)]
        if reused := [step.name for step in of_set if step not in done]:
            show(f"{set_name}: unchanged, so not made again: {', '.join(reused)}")
        if not data.references:
            show(f"{set_name}: there are no references, so nothing is evaluated")
        running.read.pop(set_name, None)  # lists of several sets need not be in memory at once
    reports = {test.name: running.reports(test.name)[0] for test in job.config.test if test.references}
    evaluations = {test: Evaluation.from_json(path.read_text(encoding="utf-8")) for test, path in reports.items()}
    contributions = from_json((work / CONTRIBUTIONS).read_text(encoding="utf-8"))
    files, written = ([*(file for step in some for file in step.files), work / RECORD] for some in (steps, done))
    return Outcome(evaluations, contributions, running.held_out(), tuple(files), tuple(written) if done else ())


@dataclass
class _Run:
    """The job of a run, completed by its lists, the folder of its files, and the data sets: `tune`, and each test set.

    `name` is that of the job in its reports; `read` holds the sets that have been read, and `warnings` what is doubtful
    about their references.
    """

    job: Job
    work: Path
    name: str
    sets: Mapping[str, DataSet]
    read: dict[str, Data] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, job: Job, work: Path, name: str, record: Steps) -> _Run:
        """The run of a job. What its lists need is kept in the record, so that they need not be read for it again.

        Raises ConfigError for wrong settings.
        """
        config = job.config
        if config.tune is None:
            raise ConfigError("the config has no [tune] table, which names the lists that weights are tuned on")
        job.check_options()
        running = cls(job, work, name, {TUNE: config.tune, **{test.name: test for test in config.test}})
        inputs = inputs_of_lists(job, config.tune)
        wanted = record.recall("lists", inputs)
        if wanted is None:
            wanted = wanted_by(job, running._lists(TUNE).nbests)
            record.remember("lists", inputs, wanted)
        running.job = with_wanted(job, wanted)
        running._check_no_input_is_overwritten()
        return running

    def _check_no_input_is_overwritten(self) -> None:
        read = {self.job.config.path(path).resolve() for data in self.sets.values() for path in data.files}
        steps = [step for label in self.first for step in self.first_steps(label)]
        steps += [step for name in self.sets for step in self.steps(name)]
        for file in (file for step in steps for file in step.files):
            if file.resolve() in read:
                raise ConfigError(f"{file}: is read and would be overwritten; move it, or set another folder as `work`")

    @cached_property
    def systems(self) -> dict[str, Job]:
        """The jobs of all systems by name, that with all features last."""
        return {**self.job.systems, RERANKED: self.job}

    @cached_property
    def first(self) -> dict[str, Job]:
        """The systems that do without some features, by name, in the order of the config."""
        return {label: job for label, job in self.systems.items() if len(job.labels) < len(self.job.labels)}

    def first_steps(self, label: str) -> list[Step]:
        """The steps of a system that does without some features, up to its 1-bests of all test sets."""
        steps = []
        for name, data in self.sets.items():
            table = self._table(name, label)
            inputs = partial(inputs_of_features, self.first[label].for_set(name), data, self.work)
            steps.append(Step(name, f"features {label}", inputs, [table], partial(self._extract, name, label)))
            own = self._weights_step if name == TUNE else self._lists_step
            steps.append(own(name, label))
        return steps

    def first_scores(self, label: str) -> Iterator[str]:
        """A small table for each test set with references: the scores of the decoder and of a system."""
        for name in self.sets:
            if name == TUNE or not self.sets[name].references:
                continue
            lists, best = self._lists(name), {label: self._best(name)[label]}
            data = lists.counted
            outputs = {"1-best": [nbest[0].text for nbest in data.nbests], **self._outputs(lists, best)}
            yield f"{name}, before the features that only other systems have:"
            for system, texts in outputs.items():
                scores = (f"{m.name} {_score(m, texts, data.references):.2f}" for m in self.job.measures)
                yield f"  {system:<{max(map(len, outputs))}}  {'  '.join(scores)}"

    def held_out(self) -> dict[str, HeldOut]:
        """By system, what the weights record of their gain on held-out lists."""
        recorded = {label: from_record(read_weights(self._weights(label)).provenance) for label in self.systems}
        return {label: known[0] for label, known in recorded.items() if known is not None}

    def reports(self, test: str) -> list[Path]:
        """The files of the report of a test set: JSON, and a page."""
        return [self.work / f"{test}.report.{suffix}" for suffix in ("json", "html")]

    def steps(self, name: str) -> list[Step]:
        """The steps of a data set in their order: those of the tuning, or those of a test set."""
        data, table = self.sets[name], self._table(name)
        inputs = partial(inputs_of_features, self.job.for_set(name), data, self.work)
        features = Step(name, "features", inputs, [table], partial(self._extract, name))
        return [features, *(self._tuning(data, table) if name == TUNE else self._reranking(name, data, table))]

    def _tuning(self, data: DataSet, table: Path) -> Iterator[Step]:
        """The steps that tune the weights of each system, and measure what contributes and how sure the weights are."""
        job, work, tuned = self.job, self.work, self._weights(RERANKED)
        yield from (self._weights_step(TUNE, label) for label in self.systems if label not in self.first)
        inputs = partial(inputs_of_contributions, job, data, work, table, tuned)
        yield Step(TUNE, "contributions", inputs, [work / CONTRIBUTIONS], self._measure, [table, tuned])
        samples = weight_intervals.samples_of(job)
        inputs = partial(inputs_of_weight_intervals, job, data, work, table, tuned, samples)
        yield Step(TUNE, "weight intervals", inputs, [work / INTERVALS], self._resample, [table, tuned])

    def _reranking(self, name: str, data: DataSet, table: Path) -> Iterator[Step]:
        """The steps that rerank a test set with each system, and evaluate it if it has references."""
        yield from (self._lists_step(name, label) for label in self.systems if label not in self.first)
        if data.references:
            best, tuned, shown = self._best(name), self._weights(RERANKED), [self.work / file for file in FACTS]
            inputs = partial(inputs_of_report, self.name, self.job, data, best, tuned, table, shown)
            needs = [*best.values(), tuned, *shown]
            yield Step(name, "report", inputs, self.reports(name), partial(self._report, name), needs)

    def _weights_step(self, name: str, label: str) -> Step:
        """The step that tunes the weights of a system on the tuning set."""
        system, table, files = self.systems[label], self._table(name, label), [self._weights(label)]
        files += [trees_file(file) for file in files if system.tuner.learns_scorer]
        inputs = partial(inputs_of_weights, system, self.sets[name], self.work, table)
        what = "weights" if label == RERANKED else f"weights {label}"
        return Step(name, what, inputs, files, partial(self._learn, label, system), [table])

    def _lists_step(self, name: str, label: str) -> Step:
        """The step that reranks a test set with a system."""
        weights, table, files = self._weights(label), self._table(name, label), [self._best(name)[label]]
        files += [self.work / f"{name}.nbest.gz"] if label == RERANKED else []
        inputs = partial(inputs_of_reranking, self.systems[label], self.sets[name], weights, table)
        what = "reranked lists" if label == RERANKED else f"1-bests {label}"
        return Step(name, what, inputs, files, partial(self._rerank, name, label, files), [weights, table])

    def _extract(self, name: str, label: str = RERANKED) -> Iterator[str]:
        lists = self._rehearsed if name == TUNE else self._lists(name)
        self.work.mkdir(parents=True, exist_ok=True)
        if label == next(iter(self.first), RERANKED):
            yield f"{name}: {lists_size(len(lists.nbests), sum(map(len, lists.nbests)))}"
            for warning in self.warnings[name]:
                yield f"rerank: warning: {warning}"
        feature_table(self.systems[label].for_set(name), lists.nbests, self._table(name, label))

    def _learn(self, label: str, system: Job) -> Iterator[str]:
        lists = self._rehearsed
        if label == RERANKED:
            yield from lists.warnings(TUNE)
        learnt = learn(system, lists, self._columns(TUNE, label, lists.nbests), self.work)
        write_weights(learnt.weights, self._weights(label))
        for line in learnt.summary:
            yield line if label == RERANKED else f"{label}: {line}"

    def _measure(self) -> None:
        weights, table = self._tuned()
        with open_atomic(self.work / CONTRIBUTIONS) as stream:
            stream.write(as_json(family_contributions(self.job, self._rehearsed, table, weights)))

    def _resample(self) -> None:
        job, (weights, table) = self.job, self._tuned()
        left = [label for label in job.labels if set(families(job, table)[label]) - set(table.names)]
        rows = weight_intervals.weights_with_intervals(job.without(left), self._rehearsed, table, weights)
        with open_atomic(self.work / INTERVALS) as stream:
            stream.write(weight_intervals.as_json(rows, weight_intervals.samples_of(job)))

    def _rerank(self, name: str, label: str, paths: Sequence[Path]) -> Iterator[str]:
        """Write the 1-bests, and, where there is a second path, the reranked lists."""
        data, system, tuned = self._lists(name), self.systems[label], read_weights(self._weights(label))
        table = columns_of(system, tuned, self._columns(name, label, data.nbests))
        texts: dict[str, str] = {}
        facts = ListFacts()
        with ExitStack() as files:
            best = files.enter_context(open_atomic(paths[0]))
            lists = [files.enter_context(open_lists(path, self.job.format, one_file=True)) for path in paths[1:]]
            for nbest, rescored in apply_weights(system, tuned, table_pairs(data.nbests, table), facts=facts):
                texts[nbest.segment_id] = nbest[rescored.order[0]].text
                for writer in lists:
                    writer.write(nbest, rescored)
            best.writelines(data.one_bests(texts).lines())
        if label == RERANKED and (unlike := unlike_tuning(tuned.provenance, facts)):
            yield f"rerank: warning: {name}: {unlike}"

    def _report(self, name: str) -> Iterator[str]:
        lists = self._lists(name)
        yield from lists.warnings(name)
        evaluation, tuned = self._evaluation(lists, self._best(name)), read_weights(self._weights(RERANKED))
        facts = with_lists(self._facts(tuned), self.job, tuned, lists, FeatureTable.load(self._table(name)), evaluation)
        page = html_page(evaluation, f"{self.name} · {name}" if self.name else name, facts=facts)
        for report, text in zip(self.reports(name), (evaluation.to_json(), page), strict=True):
            with open_atomic(report) as stream:
                stream.write(text)

    def _tuned(self) -> tuple[Weights, FeatureTable]:
        """The weights of the reranked system, and the columns of the tuning set's table that they are for."""
        weights = read_weights(self._weights(RERANKED))
        return weights, columns_of(self.job, weights, FeatureTable.load(self._table(TUNE)))

    def _columns(self, name: str, label: str, nbests: Sequence[NBestList]) -> FeatureTable:
        system, path = self.systems[label], self._table(name, label)
        table = FeatureTable.load(path)
        return chosen_columns(system.for_set(name), nbests, table, path, folder=self.work, named_only=True)

    def _table(self, name: str, label: str = RERANKED) -> Path:
        """The feature table of a set: that of all features, or the own one of a system that comes first."""
        return self.work / system_file(name, label if label in self.first else RERANKED, ".npz")

    def _weights(self, label: str) -> Path:
        return self.work / system_file("weights", label, ".toml")

    def _best(self, name: str) -> dict[str, Path]:
        return {label: self.work / system_file(name, label, ".1best") for label in self.systems}

    def _facts(self, tuned: Weights) -> RunFacts:
        """What is known of the tuning, from the files of its steps."""
        contributions, intervals = ((self.work / file).read_text(encoding="utf-8") for file in FACTS)
        weights, samples = weight_intervals.from_json(intervals)
        facts = facts_of_tuning(tuned, self.name, str(self.job.config.tuner.get("use", "")))
        return replace(facts, system=RERANKED, contributions=from_json(contributions), weights=weights, samples=samples)

    def _lists(self, name: str) -> Data:
        """A data set, read when it is first needed.

        Raises ConfigError where its lists and references do not belong together.
        """
        if name not in self.read:
            with StatusLine("reading the lists"):
                data = self.read[name] = self.job.read(self.sets[name])
            files = self.sets[name].references
            self.warnings[name] = PairedTexts.of_lists(data.nbests, data.references, files).warnings(self.job)
        return self.read[name]

    @cached_property
    def _rehearsed(self) -> Data:
        """The tuning set, after checks that would otherwise fail only when its features are there.

        Raises ConfigError for test sets with other features than the tuning set, and for wrong settings of the tuning.
        """
        data = self._lists(TUNE)
        for name in self.sets:
            if name != TUNE and (warning := overlap_with_tuning(data, self._lists(name))):
                logger.warning("%s", warning)
            names = self._lists(name).nbests[0].feature_names
            if difference := names_differ(data.nbests[0].feature_names, names):
                raise ConfigError(f"{name}: other decoder features than the tuning lists: {difference}")
        decoder = decoder_table(data.nbests, dense_rule(self.job))
        for system in self.systems.values():
            rehearse(system, data, decoder)
        return data

    def _outputs(self, data: Data, best: Mapping[str, Path]) -> dict[str, list[str]]:
        """By system, the 1-bests that the files `best` hold, in the order of the counted segments."""
        files, ids = data.one_bests(dict.fromkeys(data.ids, "")), data.counted.ids
        texts = {system: files.read(path.read_bytes().decode().split("\n")[:-1]) for system, path in best.items()}
        return {system: [of_ids.get(id_, "") for id_ in ids] for system, of_ids in texts.items()}

    def _evaluation(self, data: Data, best: Mapping[str, Path]) -> Evaluation:
        """The comparison of the decoder's 1-bests with those of each system, which the files `best` hold."""
        outputs, data = self._outputs(data, best), data.counted
        with StatusLine(f"evaluating {data.name}"):
            return compare(
                self.job,
                {"1-best": [nbest[0].text for nbest in data.nbests], **outputs},
                data.references,
                nbests=data.nbests,
                sources=[nbest.source for nbest in data.nbests],
                segment_ids=data.ids,
                groups=data.groups,
                pairs=[(RERANKED, system) for system in outputs if system != RERANKED],
            )


def _score(measure: Measure, texts: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The score of one text for each segment."""
    hypotheses = through(measure.text, [[text] for text in texts])
    statistics = measure.metric.statistics(hypotheses, through(measure.text, references))
    return float(measure.metric.score(statistics.sum(axis=0)))
