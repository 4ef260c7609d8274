"""What a syntactic language model inside the search is worth, and what it costs: BLEU and time with and without it.

    python example_nbest/syntactic_search.py [FOLDER] [OPTIONS]

FOLDER is mt/ or one that larger_corpus.py made. Unlike make.py this needs the package. All systems search by cube
pruning (decoder/cubes.py) and differ in what the rows of the table say:

    n-grams                  the decoder
    n-grams, MORE pops       the decoder with larger stacks
    n-grams, reranked        the n-best lists of the decoder, with the syntactic model as a feature (`hhmm-lm`)
    syntax in the search     the syntactic model as one more score of the search, stacks as in the first row

Each is tuned as n-best lists are: rounds of decoding tune.de, adding the lists to those of the rounds before, and
`tune`. The first round has the weights of mt/moses.ini, or, with the syntactic model, which takes one round less, the
tuned ones, that of the n-grams shared by the two. Differences are to the first row: intervals by paired bootstrap, p by
paired randomisation. Seconds are of CPU, per sentence; steps are calls of the syntactic model per sentence, those that
were not remembered.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from decoder.cubes import CubeDecoder
from decoder.language_model import LanguageModel
from decoder.nbest import moses_lines, nbest
from decoder.phrase_table import read
from decoder.syntactic import Syntactic
from decoder.weights import Weights

from rerank_adapters import api
from rerank_plugins.models.hhmm_model import HhmmModel

HERE = Path(__file__).parent
METRIC = "bleu,tokenize=none"
THRESHOLD = 1e-4  # of the syntactic model's beam
_IN_USE: list[tuple[CubeDecoder, int]] = []


class Decoded(NamedTuple):
    """Lines of an n-best list, seconds of CPU, steps of the syntactic model."""

    lines: list[str]
    seconds: float
    steps: int


@dataclass(frozen=True)
class Task:
    """A folder of text and models, how many sentences of it, and how to work on them."""

    folder: Path
    lists: Path
    sentences: dict[str, int]
    n: int
    tuner: str
    jobs: int

    def text(self, name: str) -> list[str]:
        """The sentences of tune.de, tune.en, test.de or test.en that are used."""
        return (self.folder / name).read_text(encoding="utf-8").splitlines()[: self.sentences[name.partition(".")[0]]]

    def references(self, name: str) -> list[Path]:
        """A file of the references that are used."""
        path = self.lists / f"{name}.en"
        path.write_text("".join(f"{line}\n" for line in self.text(f"{name}.en")), encoding="utf-8")
        return [path]

    def decode(self, decoder: CubeDecoder, name: str, path: Path) -> tuple[float, float]:
        """Write n-best lists; back: seconds and steps per sentence."""
        sources = list(enumerate(self.text(f"{name}.de")))
        with get_context("fork").Pool(self.jobs, _use, (decoder, self.n)) as pool:
            found = pool.map(_translate, sources, chunksize=5)
        path.write_text("".join(line for decoded in found for line in decoded.lines), encoding="utf-8")
        return tuple(sum(values) / len(found) for values in zip(*(each[1:] for each in found), strict=True))

    def tune(self, decoder: CubeDecoder, system: str, rounds: int) -> tuple[CubeDecoder, list[Path]]:
        """The decoder with tuned weights, and the n-best lists that they come from."""
        paths: list[Path] = []
        for number in range(rounds):
            paths.append(self.lists / f"{system}.tune.{number}.nbest")
            self.decode(decoder, "tune", paths[-1])
            lists = api.read_nbest(paths)
            table = api.extract_features(lists, jobs=self.jobs)
            tuned = api.tune(lists, table, self.references("tune"), metric=METRIC, tuner=self.tuner)
            weights = Weights.read(moses_section(tuned.dense))
            decoder = replace(decoder, weights=weights)
            print(f"{system}, round {number + 1}: {weights}", file=sys.stderr)
        return decoder, paths


def _use(decoder: CubeDecoder, n: int) -> None:
    """What a process translates with: handed on by the fork, never copied."""
    _IN_USE[:] = [(decoder, n)]


def _translate(numbered: tuple[int, str]) -> Decoded:
    """Decode a sentence."""
    ((decoder, n),) = _IN_USE
    segment, source = numbered
    started = time.process_time()
    steps = decoder.syntax.computed if decoder.syntax else 0
    lines = list(moses_lines(segment, nbest(decoder.search(source.split()), decoder.weights, n)))
    if decoder.syntax:
        decoder.syntax.reset()
        steps = decoder.syntax.computed - steps
    return Decoded(lines, time.process_time() - started, steps)


def moses_section(dense: dict[str, float]) -> list[str]:
    """Weights by feature as the lines of a moses.ini."""
    lines: dict[str, list[float]] = {}
    for name, weight in dense.items():
        lines.setdefault(name.partition("_")[0], []).append(weight)
    return ["[weight]", *(f"{label}= {' '.join(map(str, values))}" for label, values in lines.items())]


def reranked(task: Task, tuned_on: Sequence[Path], test: Path, feature: str) -> tuple[list[str], float]:
    """The decoder's lists with the syntactic model as a feature: the new 1-best, and seconds per sentence."""
    lists = {"tune": api.read_nbest(list(tuned_on)), "test": api.read_nbest([test])}
    table = api.extract_features(lists["tune"], [feature], jobs=task.jobs)
    weights = api.tune(lists["tune"], table, task.references("tune"), metric=METRIC, tuner=task.tuner)
    print(f"reranking: {dict(weights.dense)}", file=sys.stderr)
    started = time.process_time()
    best = api.rerank(lists["test"], api.extract_features(lists["test"], [feature], jobs=1), weights)
    return best, (time.process_time() - started) / len(best)


def firsts(path: Path) -> list[str]:
    """The first hypothesis of each list."""
    return [nbest[0].text for nbest in api.read_nbest([path])]


def main(arguments: argparse.Namespace, lists: Path) -> None:
    """Tune and test the systems, and print the table."""
    folder, sentences = arguments.folder, {"tune": arguments.tune, "test": arguments.test}
    task = Task(folder, lists, sentences, arguments.n, arguments.tuner, arguments.jobs)
    start = Weights.read((HERE / "mt/moses.ini").read_text(encoding="utf-8").splitlines())
    with (
        (folder / "phrase-table.txt").open(encoding="utf-8") as table,
        (folder / "lm.arpa").open(encoding="utf-8") as arpa,
    ):
        plain = CubeDecoder(read(table), LanguageModel(arpa), start, stack_size=arguments.stack, pops=arguments.pops)
    plain, tuned_on = task.tune(plain, "plain", arguments.rounds)
    outputs: dict[str, list[str]] = {}
    costs: dict[str, tuple[float, float]] = {}

    def test(name: str, decoder: CubeDecoder) -> Path:
        path = lists / f"{name.replace(' ', '-')}.test.nbest"
        costs[name] = task.decode(decoder, "test", path)
        outputs[name] = firsts(path)
        print(f"{name}: {costs[name]}", file=sys.stderr)
        return path

    plain_test = test("n-grams", plain)
    if more := arguments.more:
        test(f"n-grams, {more} pops", replace(plain, pops=more, stack_size=arguments.stack * more // arguments.pops))
    half = plain.weights.language_model / 2
    weights = replace(plain.weights, language_model=half, syntactic=half)
    for grammar in (None, *arguments.grammar):
        label = f" ({grammar.stem})" if grammar else ""
        settings = f"beam={arguments.beam},threshold={THRESHOLD}" + (f",model={grammar}" if grammar else "")
        name = f"n-grams, reranked{label}"
        outputs[name], seconds = reranked(task, tuned_on, plain_test, f"hhmm-lm,{settings}")
        costs[name] = costs["n-grams"][0] + seconds, 0.0
        model = HhmmModel(grammar, beam=arguments.beam, threshold=THRESHOLD)
        model.score([["the", "dog"]])  # compiled and laid out before the time is taken
        joint = replace(plain, weights=weights, syntax=Syntactic(model))
        joint, _ = task.tune(joint, f"syntax{label}", max(1, arguments.rounds - 1))
        test(f"syntax in the search{label}", joint)
    evaluation = api.evaluate(outputs, task.references("test"), metrics=[METRIC])
    print(f"{'system':<40} {'BLEU':>6} {'difference':>11} {'95 % interval':>17} {'p':>6} {'s':>7} {'steps':>7}")
    for system in evaluation.metrics[0].systems:
        line = f"{system.system:<40} {system.score:6.2f}"
        if (other := system.comparison) and other.interval:
            low, high = other.interval.low, other.interval.high
            line += f" {other.difference:+11.2f} {f'[{low:+.2f}, {high:+.2f}]':>17} {other.randomisation_p:6.3f}"
        else:
            line += " " * 37
        seconds, steps = costs[system.system]
        print(f"{line} {seconds:7.3f} {steps:7.0f}")


def options() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "mt")
    for name, value, what in (
        ("tune", 300, "sentences to tune on"), ("test", 600, "sentences to test on"), ("n", 100, "length of lists"),
        ("rounds", 3, "rounds of tuning"), ("pops", 100, "hypotheses a stack that are scored"),
        ("stack", 50, "hypotheses a stack that are kept"), ("more", 1000, "pops of the second system, 0: leave it out"),
        ("beam", 50, "stores of the syntactic model"), ("jobs", 2, "processes"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{what} (default: {value})")
    parser.add_argument("--tuner", default="mira", help="default: mira")
    parser.add_argument("--grammar", type=Path, action="append", default=[], help="one more grammar; repeatable")
    parser.add_argument("--lists", type=Path, help="folder for the n-best lists (default: a temporary one)")
    return parser.parse_args()


if __name__ == "__main__":
    given = options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.lists or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        main(given, folder)
