"""The whole job of a config: extract, tune, rerank and evaluate, with the files of every step in the work folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.compressed import open_atomic
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.pipeline.apply import apply_weights, table_pairs
from rerank_adapters.pipeline.carried import what_carried_it
from rerank_adapters.pipeline.evaluate import compare
from rerank_adapters.pipeline.extract import dense_rule, feature_table
from rerank_adapters.pipeline.job import Data, Job, lists_size
from rerank_adapters.pipeline.lists import for_lists
from rerank_adapters.pipeline.mismatch import style_mismatch
from rerank_adapters.pipeline.preflight import rehearse
from rerank_adapters.pipeline.table_columns import chosen_columns
from rerank_adapters.pipeline.tune import Learnt, learn
from rerank_adapters.progress import StatusLine
from rerank_adapters.report.html import html_page
from rerank_adapters.report.tables import Table, contribution_table, gain_table
from rerank_adapters.tuning.contributions import Contributions
from rerank_adapters.weights import Weights, write_weights
from rerank_plugins import ConfigError

Say = Callable[[str], None]


RERANKED = "reranked"  # the system with all features of the config


@dataclass(frozen=True)
class Outcome:
    """The result of a run: the tuned weights, and by name an evaluation of each test set that has references.

    `contributions`  what each family of features contributes on the tuning lists; None where it was not measured
    `gains`          by test set and `[[system]]`, the comparison of the reranked system with it
    `files`          all files that the run wrote
    """

    learnt: Learnt
    metric: str
    evaluations: dict[str, Evaluation]
    contributions: Contributions | None = None
    gains: dict[str, dict[str, Evaluation]] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def pages(self) -> tuple[Path, ...]:
        """The HTML pages among the files: the report with every segment, one for each evaluation."""
        return tuple(file for file in self.files if file.suffix == ".html")

    def tables(self, test: str) -> list[Table]:
        """The tables beside the scores of a test set: what carried the result, and what it gains over each system."""
        tables = [] if self.contributions is None else [contribution_table(self.contributions, self.metric)]
        gains = self.gains.get(test)
        return [*tables, *([gain_table(gains, RERANKED)] if gains else [])]


def run(job: Job, work: Path, say: Say) -> Outcome:
    """Do the whole job, and write feature tables, weights, 1-bests, reranked lists and reports to `work`.

    `say` is called with each line about the progress of the job. Raises ConfigError for wrong settings before any work.
    """
    if job.config.tune is None:
        raise ConfigError("the config has no [tune] table, which names the lists that weights are tuned on")
    job.check_options()
    with StatusLine("reading the lists"):
        tuning_set = job.read(job.config.tune)
        tests = [job.read(test) for test in job.config.test]
    job = for_lists(job, tuning_set.nbests)
    for test in tests:
        difference = names_differ(tuning_set.nbests[0].feature_names, test.nbests[0].feature_names)
        if difference:
            raise ConfigError(f"{test.name}: other decoder features than the tuning lists: {difference}")
    rehearse(job, tuning_set, decoder_table(tuning_set.nbests, dense_rule(job)))
    work.mkdir(parents=True, exist_ok=True)
    say(_size("tune", tuning_set))
    first_texts = [nbest[0].text for nbest in tuning_set.nbests]
    if warning := style_mismatch(job, {"hypotheses": first_texts}, tuning_set.references):
        say(f"rerank: warning: {warning}")
    table = feature_table(job, tuning_set.nbests, work / "tune.npz")
    files = [work / "tune.npz"]
    weights: dict[str, Weights] = {}
    for name, system in {**job.systems, RERANKED: job}.items():
        columns = chosen_columns(system, tuning_set.nbests, table, work / "tune.npz", folder=work)
        learnt = learn(system, tuning_set, columns, work)
        weights[name] = learnt.weights
        files.append(work / weights_file(name))
        write_weights(learnt.weights, files[-1])
        for line in learnt.summary:
            say(line if name == RERANKED else f"{name}: {line}")
    contributions = what_carried_it(job, tuning_set, table, learnt.weights)
    outcome = Outcome(learnt, job.measures[0].name, {}, contributions)
    for test in tests:
        _test(job, weights, test, work, say, outcome, files)
    return replace(outcome, files=tuple(files))


def weights_file(system: str) -> str:
    """The name of a system's weights file: `weights.toml`, or `weights.NAME.toml` for a `[[system]]`."""
    return "weights.toml" if system == RERANKED else f"weights.{'-'.join(system.split())}.toml"


def _test(
    job: Job, weights: Mapping[str, Weights], data: Data, work: Path, say: Say, outcome: Outcome, files: list[Path]
) -> None:
    """Rerank and evaluate a test set: results are added to the outcome, the names of what is written to `files`."""
    say(_size(data.name, data))
    table_file = work / f"{data.name}.npz"
    table = feature_table(job, data.nbests, table_file)
    outputs: dict[str, list[str]] = {"1-best": [nbest[0].text for nbest in data.nbests]}
    for name, system in job.systems.items():
        columns = chosen_columns(system, data.nbests, table, table_file, folder=work)
        pairs = apply_weights(system, weights[name], table_pairs(data.nbests, columns))
        outputs[name] = [nbest[rescored.order[0]].text for nbest, rescored in pairs]
    chosen = outputs[RERANKED] = []
    files += [work / f"{data.name}.{suffix}" for suffix in ("npz", "1best", "nbest.gz")]
    with open_atomic(work / f"{data.name}.1best") as best, open_atomic(work / f"{data.name}.nbest.gz") as lists:
        for nbest, rescored in apply_weights(job, weights[RERANKED], table_pairs(data.nbests, table)):
            chosen.append(nbest[rescored.order[0]].text)
            best.write(chosen[-1] + "\n")
            lists.writelines(job.format.write(nbest, rescored))
    if not all(data.references):
        say(f"{data.name}: there are no references, so nothing is evaluated")
        return
    with StatusLine(f"evaluating {data.name}"):
        evaluation = outcome.evaluations[data.name] = compare(
            job,
            outputs,
            data.references,
            nbests=data.nbests,
            sources=[nbest.source for nbest in data.nbests],
            segment_ids=[nbest.segment_id for nbest in data.nbests],
            groups=data.groups,
        )
        outcome.gains[data.name] = {
            name: compare(job, {name: outputs[name], RERANKED: chosen}, data.references, groups=data.groups)
            for name in job.systems
        }
    page = html_page(evaluation, data.name, outcome.tables(data.name))
    for name, text in (("json", evaluation.to_json()), ("html", page)):
        files.append(work / f"{data.name}.report.{name}")
        with open_atomic(files[-1]) as report:
            report.write(text)


def _size(name: str, data: Data) -> str:
    return f"{name}: {lists_size(len(data.nbests), sum(map(len, data.nbests)))}"
