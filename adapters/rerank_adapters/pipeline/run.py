"""The whole job of a config: extract, tune, rerank and evaluate, with the files of every step in the work folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.compressed import open_atomic
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.feature_field import names_differ
from rerank_adapters.pipeline.apply import apply_weights, table_pairs
from rerank_adapters.pipeline.evaluate import compare
from rerank_adapters.pipeline.extract import dense_rule, feature_table
from rerank_adapters.pipeline.job import Data, Job, lists_size
from rerank_adapters.pipeline.mismatch import style_mismatch
from rerank_adapters.pipeline.preflight import rehearse
from rerank_adapters.pipeline.tune import Learnt, learn
from rerank_adapters.progress import StatusLine
from rerank_adapters.report.html import html_page
from rerank_adapters.weights import Weights, write_weights
from rerank_plugins import ConfigError

Say = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """The result of a run: the tuned weights, and by name an evaluation of each test set that has references.

    `files` are all files that the run wrote.
    """

    learnt: Learnt
    evaluations: dict[str, Evaluation]
    files: tuple[Path, ...] = ()

    @property
    def pages(self) -> tuple[Path, ...]:
        """The HTML pages among the files: the report with every segment, one for each evaluation."""
        return tuple(file for file in self.files if file.suffix == ".html")


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
    learnt = learn(job, tuning_set, table, work)
    write_weights(learnt.weights, work / "weights.toml")
    for line in learnt.summary:
        say(line)
    files = [work / "tune.npz", work / "weights.toml"]
    evaluations = {test.name: _test(job, learnt.weights, test, work, say, files) for test in tests}
    known = {name: evaluation for name, evaluation in evaluations.items() if evaluation is not None}
    return Outcome(learnt, known, tuple(files))


def _test(job: Job, weights: Weights, data: Data, work: Path, say: Say, files: list[Path]) -> Evaluation | None:
    """Rerank and evaluate a test set; the names of what is written are added to `files`."""
    say(_size(data.name, data))
    table = feature_table(job, data.nbests, work / f"{data.name}.npz")
    chosen = []
    files += [work / f"{data.name}.{suffix}" for suffix in ("npz", "1best", "nbest.gz")]
    with open_atomic(work / f"{data.name}.1best") as best, open_atomic(work / f"{data.name}.nbest.gz") as lists:
        for nbest, rescored in apply_weights(job, weights, table_pairs(data.nbests, table)):
            chosen.append(nbest[rescored.order[0]].text)
            best.write(chosen[-1] + "\n")
            lists.writelines(job.format.write(nbest, rescored))
    if not all(data.references):
        say(f"{data.name}: there are no references, so nothing is evaluated")
        return None
    with StatusLine(f"evaluating {data.name}"):
        evaluation = compare(
            job,
            {"1-best": [nbest[0].text for nbest in data.nbests], "reranked": chosen},
            data.references,
            nbests=data.nbests,
            sources=[nbest.source for nbest in data.nbests],
            segment_ids=[nbest.segment_id for nbest in data.nbests],
        )
    for name, text in (("json", evaluation.to_json()), ("html", html_page(evaluation, data.name))):
        files.append(work / f"{data.name}.report.{name}")
        with open_atomic(files[-1]) as report:
            report.write(text)
    return evaluation


def _size(name: str, data: Data) -> str:
    return f"{name}: {lists_size(len(data.nbests), sum(map(len, data.nbests)))}"
