"""Print Table 1 of Gubbins and Vlachos (2013): language models on sentence completion questions.

The table has accuracies with 95 % intervals for orders 2 to 5 of unlabelled and labelled dependency models and of
n-gram models, each with stupid back-off (SB) and Kneser–Ney smoothing (KN), all with the same vocabulary. Below it the
best models of each kind are compared and combined, with weights from 10-fold cross-validation over the questions.

The TEXTs have one sentence per line, in Penn-style tokens; they are parsed once, through the cache of parses, unless
`--trees` names files of trees of them, or of a part of them. QUESTIONS is a file that `rerank words complete` reads.

\b
    python -m docs.results.scripts.completion_table novels.txt.xz questions.tsv
    python -m docs.results.scripts.completion_table novels.txt.xz novels-more.txt.xz \\
        questions.tsv --trees novels.conllu.zst --vectors novels.ri
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, counted, experiment, say
from rerank_adapters.applications.completion import (
    combined_answers,
    completion_data,
)
from rerank_adapters.applications.completion.questions import read_questions
from rerank_adapters.applications.training.tree_source import DEPENDENCIES, NamedParser, TreeSource
from rerank_adapters.builtin import BUILTIN
from rerank_adapters.data.dataset import Dataset
from rerank_adapters.evaluation.proportions import mcnemar, wilson_interval
from rerank_adapters.features.processes import Processes
from rerank_adapters.job.config import Config
from rerank_adapters.job.job import Job
from rerank_adapters.job.models import load_parser, spec_of
from rerank_adapters.run.learn import start_of
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_adapters.tuning.problem import problem_of
from rerank_plugins import FeatureTable, RerankError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.dependency_tree import DependencyTree
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.dependency.ancestor_paths import TreeCollector
from rerank_plugins.dependency.model import Settings, train_on
from rerank_plugins.kit.backoff.estimation import estimate
from rerank_plugins.kit.backoff.events import TextEvents
from rerank_plugins.kit.backoff.scoring import score_text
from rerank_plugins.kit.backoff.smoothing import KneserNey, StupidBackoff
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.vocabulary.word_ids import BOS, SPECIAL, UNK, TextCollector
from rerank_plugins.similarity.random_indexing import read_model as read_vectors

ORDERS = (2, 3, 4, 5)
SMOOTHING: dict[str, Literal["stupid-backoff", "kneser-ney"]] = {"SB": "stupid-backoff", "KN": "kneser-ney"}


def ngram_totals(
    texts: Sequence[Path], sentences: list[list[str]], min_count: int, orders: Sequence[int]
) -> dict[str, FloatArray]:
    """The ln p of each sentence by each n-gram model; rare words share the probability of `<unk>` equally."""
    totals = {}
    collector, types = TextCollector(), set[str]()
    for text in texts:
        with open_text(text) as lines:
            collector.add(lines)
        with open_text(text) as lines:
            types.update(word for line in lines for word in line.split())
    vocabulary, tokens, _ = collector.finish(min_count)
    cut_off = max(1, len(types) - (len(vocabulary) - len(SPECIAL)))
    encoded = vocabulary.encode(sentences)
    sentence = np.repeat(np.arange(len(sentences)), [len(words) + 1 for words in sentences])
    for order in orders:
        for name, smoothing in (("SB", StupidBackoff()), ("KN", KneserNey())):
            events = TextEvents(tokens, len(vocabulary), order)
            tables = estimate(events, smoothing, never=[BOS]).tables
            scores, _ = score_text(tables, encoded)
            scores -= np.log(cut_off) * (encoded == UNK)
            totals[f"Ngm-{name} {order}"] = np.bincount(sentence, scores).astype(np.float64)
            say(f"trained Ngm-{name} {order} on {len(tokens):,} words and sentence ends")
    return totals


def dependency_totals(
    source: TreeSource[DependencyTree],
    texts: Sequence[Path],
    trees: list[DependencyTree],
    min_count: int,
    orders: Sequence[int],
) -> dict[str, FloatArray]:
    """The ln P(S | T) of each tree by each dependency model."""
    totals = {}
    collector = TreeCollector()
    collector.add(counted(source.trees(texts), "training trees"))
    form = Settings(min_count=min_count)
    corpus = collector.finish(min_count, form.word, form.label)
    for labelled in (False, True):
        for order in orders:
            for name, smoothing in SMOOTHING.items():
                model = train_on(corpus, Settings(order, labelled, smoothing, min_count))
                kind = f"{'Lab' if labelled else 'Unlab'}-{name} {order}"
                totals[kind] = model.totals(trees)
                say(f"trained {kind} on {model.provenance['words']:,} words")
    return totals


def similarity_totals(vectors: Path, data: Dataset) -> dict[str, FloatArray]:
    """For each space of a random-indexing model, the cosine of each option and of the rest of its question."""
    model = read_vectors(vectors)
    totals = {}
    for space in model.spaces:
        cosines = []
        for nbest in data.lists:
            options = [text.split() for text in nbest.texts]
            shared = set(options[0]).intersection(*options[1:])
            own = [[word for word in option if word not in shared] for option in options]
            rest = [[word for word in options[0] if word in shared]]
            cosines.append(model.sentence_vectors(own, space, "sif") @ model.sentence_vectors(rest, space, "sif")[0])
        totals[f"RI {space}"] = np.concatenate(cosines)
    return totals


def percent(right: np.ndarray) -> str:
    """The accuracy and its 95 % interval, in per cent."""
    low, high = wilson_interval(int(right.sum()), len(right))
    return f"{100 * right.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def print_table(
    data: Dataset, answer: np.ndarray, totals: dict[str, FloatArray], orders: Sequence[int], job: Job
) -> None:
    """Print the accuracy of each model, then comparisons and combinations; `answer` is the right option of each."""
    offsets = np.cumsum([0, *map(len, data.lists)])
    right = {name: one_best(values, offsets) - offsets[:-1] == answer for name, values in totals.items()}
    kinds = ["Unlab-SB", "Lab-SB", "Ngm-SB", "Ngm-KN", "Unlab-KN", "Lab-KN"]
    print("| N | " + " | ".join(kinds) + " |\n| --- |" + " --- |" * len(kinds))
    for order in orders:
        print(f"| {order} | " + " | ".join(percent(right[f"{kind} {order}"]) for kind in kinds) + " |")

    def best(*prefixes: str) -> str:
        return max((name for name in right if name.startswith(prefixes)), key=lambda name: right[name].mean())

    def compare(first: np.ndarray, second: np.ndarray) -> str:
        test = mcnemar(first, second)
        difference = 100 * (first.mean() - second.mean())
        return f"{difference:+.1f} points ({test.first_only} against {test.second_only}, p = {test.p_value:.2g})"

    print()
    for smoothing, order in product(SMOOTHING, orders):
        first, second = (f"{kind}-{smoothing} {order}" for kind in ("Lab", "Unlab"))
        print(f"{first} against {second}: {compare(right[first], right[second])}")
    labelled, ngram = best("Lab"), best("Ngm")
    print(f"{labelled} against {ngram}: {compare(right[labelled], right[ngram])}")
    middle, high = (max(order for order in orders if order <= most) for most in (max(4, min(orders)), max(orders)))
    fixed = f"Lab-SB {middle}", f"Unlab-KN {middle}", f"Ngm-KN {high}"
    similar = tuple(name for name in totals if name.startswith("RI"))
    for name in similar:
        print(f"{name}: {percent(right[name])}")
    combinations = [(labelled, ngram), fixed[::2], fixed, *((*fixed[::2], name) for name in similar), tuple(totals)]
    for names in combinations:
        table = FeatureTable.dense(names, np.stack([totals[name] for name in names], axis=1), offsets)
        problem = problem_of(data.lists, data.references, table, job.measures[0], job.config.tuning)
        start, processes = start_of(job, data.lists, table), Processes(job.config.jobs)
        answers = combined_answers(problem, job.tuner, start, 10, job.config.seed, processes)
        chosen = answers.choices == answer
        title = " and ".join(names) if len(names) < len(totals) else f"all {len(names)}"
        print(f"{title} together: {percent(chosen)}; against {ngram}: {compare(chosen, right[ngram])}")


@experiment("completion_table", __doc__)
@click.argument("texts", type=FILE, nargs=-1, required=True, metavar="TEXT...")
@click.argument("questions_file", type=FILE, metavar="QUESTIONS")
@click.option("--trees", "treebanks", type=FILE, multiple=True, metavar="FILE",
              help="Train the dependency models on these trees. Repeatable. Default: parse the TEXTs.")  # fmt: skip
@click.option("--vectors", type=FILE, metavar="MODEL",
              help="Add the similarity of an option to its question by this model of `rerank train random-indexing`.")  # fmt: skip
@click.option("--orders", type=Listed(int), default=ORDERS, help="The orders of the models.")
@click.option("--parser", default="english", help="Parse the text and the completions with this parser.")
@click.option("--min-count", default=5, help="Treat rarer words as unknown in all models.")
@click.option("--jobs", default=2, help="The number of processes that parse.")
def main(
    texts: tuple[Path, ...],
    questions_file: Path,
    treebanks: tuple[Path, ...],
    vectors: Path | None,
    orders: tuple[int, ...],
    parser: str,
    min_count: int,
    jobs: int,
) -> None:
    """Train the models, answer the questions and print the table."""
    job = Job.of(Config(metric=[{"use": "accuracy"}], jobs=jobs, ranks=False), load_plugins(BUILTIN))
    questions = read_questions(questions_file)
    data = completion_data(questions, TextPipeline(("penn-tokenize",)))
    sentences = [answered.split() for nbest in data.lists for answered in nbest.texts]

    started = time.process_time()
    named = NamedParser(parser, spec_of(parser, job.names, "parser").entry.name, lambda: load_parser(parser, job.names))
    parses = named.made.parse(sentences)
    trees = [parse.dependencies for parse in parses if parse.dependencies is not None]
    if len(trees) < len(parses):
        raise RerankError(f"{len(parses) - len(trees)} completions have no parse by {parser}, expected one for each")
    source = TreeSource(DEPENDENCIES, named, processes=Processes(jobs))
    totals = dependency_totals(source, treebanks or texts, trees, min_count, orders)
    totals |= ngram_totals(texts, sentences, min_count, orders)

    if vectors is not None:
        totals |= similarity_totals(vectors, data)
    print_table(data, np.array([question.answer for question in questions]), totals, orders, job)
    print(f"\n{len(questions)} questions, {time.process_time() - started:.0f} s of CPU in this process")


if __name__ == "__main__":
    main()
