"""Runs the whole job of a config: extracts, tunes, reranks and evaluates, with all files in the work folder.

A step whose inputs have not changed since an earlier run, and whose files are as that run wrote them, is not repeated
(steps.py). Lists are read only for a step that needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from rerank_adapters.chain import steps as step_inputs
from rerank_adapters.chain import weight_intervals
from rerank_adapters.chain.apply import apply_weights, table_pairs
from rerank_adapters.chain.evaluate import compare
from rerank_adapters.chain.extract import dense_rule, feature_table
from rerank_adapters.chain.facts import facts_of_tuning, with_lists
from rerank_adapters.chain.families import columns_of, families
from rerank_adapters.chain.family_contributions import as_json, family_contributions, from_json
from rerank_adapters.chain.job import Data, Job, lists_size
from rerank_adapters.chain.lists import Wanted, wanted_by, with_wanted
from rerank_adapters.chain.mismatch import style_mismatch
from rerank_adapters.chain.preflight import rehearse
from rerank_adapters.chain.steps import RECORD, Steps
from rerank_adapters.chain.table_columns import chosen_columns
from rerank_adapters.chain.tune import learn
from rerank_adapters.config import DataSet
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.evaluation.contributions import Contributions
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.formats.outputs import form_for, output_lines
from rerank_adapters.report.html import html_page
from rerank_adapters.report.run_facts import RunFacts
from rerank_adapters.runtime.progress import StatusLine
from rerank_adapters.weights import Weights, read_weights, trees_file, write_weights
from rerank_plugins import ConfigError, FeatureTable
from rerank_plugins.kit.files.text import open_atomic

Say = Callable[[str], None]
Tell = Callable[[str], None]  # says a line, and records it as said by the step


RERANKED = "reranked"  # the system with all features of the config
FACTS = ("contributions.json", "intervals.json")  # files of the tuning that the reports show


@dataclass(frozen=True)
class Outcome:
    """The result of a run: by name, an evaluation of each test set that has references.

    `contributions` is what each family of features contributes on the tuning lists; None where it is not measured.
    `files` are all files that belong to the run, and `written` those that are new.
    """

    evaluations: dict[str, Evaluation]
    contributions: Contributions | None = None
    files: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()

    @property
    def pages(self) -> tuple[Path, ...]:
        """The HTML pages among the files: the report with every segment, one for each evaluation."""
        return tuple(file for file in self.files if file.suffix == ".html")


@dataclass(frozen=True)
class PlannedStep:
    """A step of a run: its data set, what it makes, its files, and whether it would be skipped as unchanged."""

    name: str
    what: str
    files: tuple[Path, ...]
    unchanged: bool


def plan(job: Job, work: Path, *, force: bool = False, name: str = "") -> list[PlannedStep]:
    """The steps of `run` in their order, none of which is done; lists are read where the record does not know them.

    A step that takes the files of one that would be done is planned to be done too; the run skips it nevertheless if
    those files come out as they were. Raises ConfigError for wrong settings.
    """
    planning = _Run(_checked(job), work, lambda line: None, Steps(work, force), name, planned=[])
    planning.tune()
    for test in job.config.test:
        planning.test(test)
    assert planning.planned is not None  # as it was set
    return planning.planned


def run(job: Job, work: Path, say: Say, *, force: bool = False, name: str = "") -> Outcome:
    """Do the whole job, and write feature tables, weights, 1-bests, reranked lists and reports to `work`.

    Steps that an earlier run has done, and whose inputs have not changed, are not repeated unless `force`. `say` is
    called with each line about the progress of the job, and `name` is that of the job in its reports. Raises
    ConfigError for wrong settings before any work.
    """
    running = _Run(_checked(job), work, say, Steps(work, force), name)
    contributions = running.tune()
    evaluations = {test.name: running.test(test) for test in job.config.test}
    known = {name: evaluation for name, evaluation in evaluations.items() if evaluation is not None}
    written = (*running.written, work / RECORD) if running.written else ()
    return Outcome(known, contributions, (*running.files, work / RECORD), written)


def _checked(job: Job) -> Job:
    if job.config.tune is None:
        raise ConfigError("the config has no [tune] table, which names the lists that weights are tuned on")
    job.check_options()
    return job


@dataclass
class _Run:
    """A run in progress: the files of its steps so far, and those among them that are new.

    Where `planned` is a list, no step is done: each is noted there.
    """

    job: Job
    work: Path
    say: Say
    steps: Steps
    name: str = ""
    files: list[Path] = field(default_factory=list)
    written: list[Path] = field(default_factory=list)
    planned: list[PlannedStep] | None = None
    _read: dict[str, Data] = field(default_factory=dict)
    _remembered: tuple[str, step_inputs.Inputs, Wanted] | None = None

    def tune(self) -> Contributions | None:
        """Extract the features of the tuning set, tune the weights of each system, and measure what contributes."""
        work, data = self.work, self.job.config.tune
        assert data is not None  # checked in `run`
        job = self._for_lists(data)
        path, shares, intervals = work / "tune.npz", *(work / name for name in FACTS)

        def extract(tell: Tell) -> None:
            lists = self._rehearsed
            work.mkdir(parents=True, exist_ok=True)
            tell(_size("tune", lists))
            first_texts = [nbest[0].text for nbest in lists.nbests]
            if warning := style_mismatch(job, {"hypotheses": first_texts}, lists.references):
                tell(f"rerank: warning: {warning}")
            feature_table(job.for_set("tune"), lists.nbests, path)

        def learn_weights(name: str, system: Job, tell: Tell) -> None:
            lists, of_set = self._rehearsed, system.for_set("tune")
            table = chosen_columns(of_set, lists.nbests, FeatureTable.load(path), path, folder=work)
            learnt = learn(system, lists, table, work)
            write_weights(learnt.weights, work / weights_file(name))
            for line in learnt.summary:
                tell(line if name == RERANKED else f"{name}: {line}")

        def measure(tell: Tell) -> None:  # noqa: ARG001 -- there is nothing to say
            weights = read_weights(work / weights_file(RERANKED))
            table = columns_of(job, weights, FeatureTable.load(path))
            with open_atomic(shares) as stream:
                stream.write(as_json(family_contributions(job, self._rehearsed, table, weights)))

        def resample(tell: Tell) -> None:  # noqa: ARG001
            weights = read_weights(work / weights_file(RERANKED))
            table = columns_of(job, weights, FeatureTable.load(path))
            left = [label for label in job.labels if set(families(job, table)[label]) - set(table.names)]
            weight_shares = weight_intervals.weight_shares(job.without(left), self._rehearsed, table, weights)
            with open_atomic(intervals) as stream:
                stream.write(weight_intervals.as_json(weight_shares, weight_intervals.samples_of(job)))

        inputs = partial(step_inputs.inputs_of_features, job.for_set("tune"), data, work)
        reused = self._step("features", "tune", inputs, [path], extract)
        for name, system in self._systems.items():
            what = "weights" if name == RERANKED else f"weights {name}"
            inputs = partial(step_inputs.inputs_of_weights, system, data, work, path)
            files = [work / weights_file(name)]
            files += [trees_file(file) for file in files if system.tuner.learns_scorer]
            reused += self._step(what, "tune", inputs, files, partial(learn_weights, name, system), [path])
        tuned = work / weights_file(RERANKED)
        inputs = partial(step_inputs.inputs_of_contributions, job, data, work, path, tuned)
        reused += self._step("contributions", "tune", inputs, [shares], measure, [path, tuned])
        samples = weight_intervals.samples_of(job)
        inputs = partial(step_inputs.inputs_of_weight_shares, job, data, work, path, tuned, samples)
        reused += self._step("weight intervals", "tune", inputs, [intervals], resample, [path, tuned])
        self._say_reused("tune", reused)
        if self.planned is not None:
            return None
        return from_json(shares.read_text(encoding="utf-8"))

    def test(self, data: DataSet) -> Evaluation | None:
        """Rerank and evaluate a test set; None for one without references."""
        job, work, name = self.job, self.work, data.name
        path, ranked = work / f"{name}.npz", work / f"{name}.nbest.gz"
        best = {system: work / best_file(name, system) for system in self._systems}
        reports = [work / f"{name}.report.{suffix}" for suffix in ("json", "html")]

        def extract(tell: Tell) -> None:
            tell(_size(name, self._lists(name, data)))
            feature_table(job.for_set(name), self._lists(name, data).nbests, path)

        def rerank(label: str, system: Job, tell: Tell) -> None:  # noqa: ARG001
            nbests, tuned = self._lists(name, data).nbests, read_weights(work / weights_file(label))
            table = chosen_columns(system.for_set(name), nbests, FeatureTable.load(path), path, folder=work)
            table = columns_of(system, tuned, table)
            form = form_for(nbest.segment_id for nbest in nbests)
            with ExitStack() as files:
                texts = files.enter_context(open_atomic(best[label]))
                lists = files.enter_context(open_atomic(ranked)) if label == RERANKED else None
                for nbest, rescored in apply_weights(system, tuned, table_pairs(nbests, table)):
                    texts.writelines(output_lines(form, nbest.segment_id, nbest[rescored.order[0]].text))
                    if lists is not None:
                        lists.writelines(job.format.write(nbest, rescored))

        def evaluate(tell: Tell) -> None:  # noqa: ARG001
            lists = self._lists(name, data)
            evaluation = self._evaluation(lists, best)
            tuned = read_weights(work / weights_file(RERANKED))
            facts = with_lists(self._facts(tuned), job, tuned, lists, FeatureTable.load(path), evaluation)
            page = html_page(evaluation, f"{self.name} · {name}" if self.name else name, facts=facts)
            for report, text in zip(reports, (evaluation.to_json(), page), strict=True):
                with open_atomic(report) as stream:
                    stream.write(text)

        inputs = partial(step_inputs.inputs_of_features, job.for_set(name), data, work)
        reused = self._step("features", name, inputs, [path], extract)
        for label, system in self._systems.items():
            what = "reranked lists" if label == RERANKED else f"1-bests {label}"
            weights = work / weights_file(label)
            inputs = partial(step_inputs.inputs_of_reranking, system, data, weights, path)
            files = [best[label], *([ranked] if label == RERANKED else [])]
            reused += self._step(what, name, inputs, files, partial(rerank, label, system), [weights, path])
        if not data.references:
            self._say_reused(name, reused)
            self.say(f"{name}: there are no references, so nothing is evaluated")
            return None
        shown = [work / file for file in FACTS]
        tuned = work / weights_file(RERANKED)
        inputs = partial(step_inputs.inputs_of_report, self.name, job, data, best, tuned, path, shown)
        reused += self._step("report", name, inputs, reports, evaluate, [*best.values(), tuned, *shown])
        self._say_reused(name, reused)
        if self.planned is not None:
            return None
        self._read.pop(name, None)  # lists of several test sets need not be in memory at once
        return Evaluation.from_json(reports[0].read_text(encoding="utf-8"))

    def _facts(self, tuned: Weights) -> RunFacts:
        """What is known of the tuning, from the files of its steps."""
        shares, intervals = ((self.work / file).read_text(encoding="utf-8") for file in FACTS)
        weights, samples = weight_intervals.from_json(intervals)
        facts = facts_of_tuning(tuned, self.name, str(self.job.config.tuner.get("use", "")))
        return replace(facts, system=RERANKED, contributions=from_json(shares), weights=weights, samples=samples)

    @property
    def _systems(self) -> dict[str, Job]:
        """The jobs of all systems by name, that with all features last."""
        return {**self.job.systems, RERANKED: self.job}

    def _for_lists(self, data: DataSet) -> Job:
        """The job with what its lists ask for, which is remembered so that lists need not be read for it again."""
        inputs = step_inputs.inputs_of_lists(self.job, data)
        wanted = self.steps.recall("lists", inputs)
        if wanted is None:
            wanted = wanted_by(self.job, self._lists("tune", data).nbests)
            self._remembered = ("lists", inputs, wanted)
        self.job = with_wanted(self.job, wanted)
        return self.job

    def _step(
        self,
        what: str,
        name: str,
        inputs_of: Callable[[], step_inputs.Inputs],
        files: Sequence[Path],
        do: Callable[[Tell], None],
        needs: Sequence[Path] = (),
    ) -> list[str]:
        """Do a step unless it is unchanged; return a list of `what`, which is empty if the step was done.

        `needs` are the files of other steps that this one takes.
        """
        key = f"{name}: {what}"
        if self.planned is not None:
            new = {file for step in self.planned if not step.unchanged for file in step.files}
            unchanged = new.isdisjoint(needs) and self.steps.unchanged(key, inputs_of()) is not None
            self.planned.append(PlannedStep(name, what, tuple(files), unchanged))
            return []
        inputs = inputs_of()
        lines = self.steps.unchanged(key, inputs)
        self.files += files
        if lines is not None:
            for line in lines:
                self.say(line)
            return [what]
        said: list[str] = []

        def tell(line: str) -> None:
            said.append(line)
            self.say(line)

        do(tell)
        if self._remembered is not None:  # not before there is a folder
            self.steps.remember(*self._remembered)
            self._remembered = None
        self.steps.record(key, inputs, files, said)
        self.written += files
        return []

    def _say_reused(self, name: str, reused: Sequence[str]) -> None:
        if reused:
            self.say(f"{name}: unchanged, so not made again: {', '.join(reused)}")

    def _lists(self, name: str, data: DataSet) -> Data:
        """A data set, read when it is first needed."""
        if name not in self._read:
            with StatusLine("reading the lists"):
                self._read[name] = self.job.read(data)
        return self._read[name]

    @cached_property
    def _rehearsed(self) -> Data:
        """The tuning set, after checks that would otherwise fail only when its features are there.

        Raises ConfigError for test sets with other features than the tuning set, and for wrong settings of the tuning.
        """
        assert self.job.config.tune is not None  # checked in `run`
        data = self._lists("tune", self.job.config.tune)
        for test in self.job.config.test:
            names = self._lists(test.name, test).nbests[0].feature_names
            if difference := names_differ(data.nbests[0].feature_names, names):
                raise ConfigError(f"{test.name}: other decoder features than the tuning lists: {difference}")
        decoder = decoder_table(data.nbests, dense_rule(self.job))
        for system in self._systems.values():
            rehearse(system, data, decoder)
        return data

    def _evaluation(self, data: Data, best: Mapping[str, Path]) -> Evaluation:
        """The comparison of the decoder's 1-bests with those of each system, which the files `best` hold."""
        ids = [nbest.segment_id for nbest in data.nbests]
        outputs = {system: path.read_bytes().decode().split("\n")[:-1] for system, path in best.items()}
        if form_for(ids) != "lines":
            outputs = {system: [line.partition(" ")[2] for line in lines] for system, lines in outputs.items()}
        with StatusLine(f"evaluating {data.name}"):
            return compare(
                self.job,
                {"1-best": [nbest[0].text for nbest in data.nbests], **outputs},
                data.references,
                nbests=data.nbests,
                sources=[nbest.source for nbest in data.nbests],
                segment_ids=ids,
                groups=data.groups,
                pairs=[(RERANKED, system) for system in outputs if system != RERANKED],
            )


def weights_file(system: str) -> str:
    """The name of a system's weights file: `weights.toml`, or `weights.NAME.toml` for a `[[system]]`."""
    return "weights.toml" if system == RERANKED else f"weights.{_in_file_names(system)}.toml"


def best_file(test: str, system: str) -> str:
    """The name of the file of a system's 1-bests: `TEST.1best`, or `TEST.NAME.1best` for a `[[system]]`."""
    return f"{test}.1best" if system == RERANKED else f"{test}.{_in_file_names(system)}.1best"


def _in_file_names(system: str) -> str:
    return "-".join(system.split())


def _size(name: str, data: Data) -> str:
    return f"{name}: {lists_size(len(data.nbests), sum(map(len, data.nbests)))}"
