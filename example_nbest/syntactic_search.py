"""What a syntactic language model inside the search is worth, and what it costs: BLEU and time with and without it.

    python example_nbest/syntactic_search.py [FOLDER] [OPTIONS]

FOLDER is mt/ or one that larger_corpus.py made. Unlike make.py this needs the package. All systems search by cube
pruning (decoder/cubes.py) and differ in what the rows of the table say:

    n-grams               the decoder
    n-grams, MORE pops    the decoder with larger stacks
    reranked              the n-best lists of the decoder, with ln p by the syntactic model as one more feature
    in the search         the syntactic model as one more score of the search, stacks as in the first row

The decoder is tuned by rounds of decoding the tuning set, adding the lists to those of the rounds before, and `tune`,
from the weights of mt/moses.ini. Its lists, with the syntactic model's feature, give the weights for reranking. From
these the search with the model starts, for rounds of its own (0: with these). Differences are to the first row:
intervals by paired bootstrap, p by paired randomisation. Seconds are of CPU, per sentence; steps are words that the
syntactic model was asked about per sentence and that were not remembered.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
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
from rerank_plugins.hhmm.language_model import HhmmLanguageModel

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
    source: str = "de"
    target: str = "en"

    def text(self, name: str) -> list[str]:
        """The sentences of tune.de, tune.en, test.de or test.en that are used."""
        return (self.folder / name).read_text(encoding="utf-8").splitlines()[: self.sentences[name.partition(".")[0]]]

    def references(self, name: str) -> list[Path]:
        """A file of the references that are used."""
        path = self.lists / f"{name}.{self.target}"
        path.write_text("".join(f"{line}\n" for line in self.text(path.name)), encoding="utf-8")
        return [path]

    def decode(self, decoder: CubeDecoder, name: str, path: Path) -> tuple[float, float]:
        """Write n-best lists; back: seconds and steps per sentence."""
        sources = list(enumerate(self.text(f"{name}.{self.source}")))
        with get_context("fork").Pool(self.jobs, _use, (decoder, self.n)) as pool:
            found = pool.map(_translate, sources, chunksize=5)
        path.write_text("".join(line for decoded in found for line in decoded.lines), encoding="utf-8")
        return tuple(sum(values) / len(found) for values in zip(*(each[1:] for each in found), strict=True))

    def learn(self, paths: Sequence[Path]) -> api.Pipeline:
        """A pipeline of the decoder's features, fitted to n-best lists."""
        lists = api.read_nbest(list(paths))
        pipeline = api.Pipeline(metric=METRIC, tuner=self.tuner, jobs=self.jobs)
        return pipeline.fit(lists, self.references("tune"))

    def rounds(self, decoder: CubeDecoder, system: str, number: int, paths: list[Path]) -> CubeDecoder:
        """The decoder with weights tuned in that many rounds; `paths` are lists to begin with, and get the new ones."""
        for count in range(1, number + 1):
            paths.append(self.lists / f"{system}.tune.{count}.nbest")
            self.decode(decoder, "tune", paths[-1])
            decoder = replace(decoder, weights=decoder_weights(self.learn(paths)))
            print(f"{system}, round {count}: {decoder.weights}", file=sys.stderr)
        return decoder


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


def decoder_weights(tuned: api.Pipeline) -> Weights:
    """Weights by feature as those of the decoder, through the lines of a moses.ini."""
    lines: dict[str, list[float]] = {}
    for name, weight in tuned.weights_.dense.items():
        lines.setdefault(name.partition("_")[0], []).append(weight)
    return Weights.read(["[weight]", *(f"{label}= {' '.join(map(str, values))}" for label, values in lines.items())])


def with_syntax(model: HhmmLanguageModel, lists: Sequence[Path], path: Path) -> float:
    """Write n-best lists with ln p by the model among the features; back: seconds of CPU for each list."""
    started = time.process_time()
    segments: dict[str, dict[str, list[str]]] = {}
    for source in lists:
        for line in source.read_text(encoding="utf-8").splitlines():
            segment, text, *others = line.split(" ||| ")
            segments.setdefault(segment, {})[text] = others
    with path.open("w", encoding="utf-8") as file:
        for segment, hypotheses in segments.items():
            ln_p = model.totals([text.split() for text in hypotheses])
            for (text, (features, total)), value in zip(hypotheses.items(), ln_p, strict=True):
                file.write(f"{segment} ||| {text} ||| {features} SyntacticLM0= {value:.4f} ||| {total}\n")
    return (time.process_time() - started) / len(segments)


class Results:
    """Outputs and costs of the systems, and the table of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.outputs: dict[str, list[str]] = {}
        self.costs: dict[str, tuple[float, float]] = {}

    def decode(self, name: str, decoder: CubeDecoder) -> Path:
        """Test a decoder; its n-best lists."""
        path = self.task.lists / f"{name.replace(' ', '-')}.test.nbest"
        costs = self.task.decode(decoder, "test", path)
        self.add(name, [nbest[0].text for nbest in api.read_nbest([path])], costs)
        return path

    def add(self, name: str, output: list[str], costs: tuple[float, float]) -> None:
        """A system's translations, its seconds and its steps per sentence."""
        self.outputs[name], self.costs[name] = output, costs
        print(f"{name}: {costs[0]:.3f} s, {costs[1]:.0f} steps", file=sys.stderr)

    def lines(self) -> Iterator[str]:
        """The table."""
        evaluation = api.evaluate(self.outputs, self.task.references("test"), metrics=[METRIC])
        yield f"{'system':<32} {'BLEU':>6} {'difference':>11} {'95 % interval':>17} {'p':>6} {'s':>7} {'steps':>7}"
        for system in evaluation.metrics[0].systems:
            line = f"{system.system:<32} {system.score:6.2f}"
            if (other := system.comparison) and other.interval:
                interval = f"[{other.interval.low:+.2f}, {other.interval.high:+.2f}]"
                line += f" {other.difference:+11.2f} {interval:>17} {other.randomisation_p:6.3f}"
            else:
                line += " " * 37
            seconds, steps = self.costs[system.system]
            yield f"{line} {seconds:7.3f} {steps:7.0f}"


def main(arguments: argparse.Namespace, lists: Path) -> None:
    """Tune and test the systems, and print the table."""
    folder, sentences = arguments.folder, {"tune": arguments.tune, "test": arguments.test}
    languages = ("en", "de") if arguments.reverse else ("de", "en")
    task = Task(folder, lists, sentences, arguments.n, arguments.tuner, arguments.jobs, *languages)
    results = Results(task)
    start = Weights.read((HERE / "mt/moses.ini").read_text(encoding="utf-8").splitlines())
    with (
        (folder / "phrase-table.txt").open(encoding="utf-8") as table,
        (folder / "lm.arpa").open(encoding="utf-8") as arpa,
    ):
        plain = CubeDecoder(read(table), LanguageModel(arpa), start, stack_size=arguments.stack, pops=arguments.pops)
    plain_lists: list[Path] = []
    plain = task.rounds(plain, "plain", arguments.rounds, plain_lists)
    plain_test = results.decode("n-grams", plain)
    if more := arguments.more:
        larger = replace(plain, pops=more, stack_size=arguments.stack * more // arguments.pops)
        results.decode(f"n-grams, {more} pops", larger)
    embedded = () if arguments.reverse else (None,)  # which is English
    for grammar in () if arguments.plain else (*embedded, *arguments.grammar):
        label = f", {grammar.stem}" if grammar else ""
        model = HhmmLanguageModel(grammar, beam=arguments.beam, threshold=THRESHOLD)
        model.score([["the", "dog"]])  # compiled and laid out before the time is taken
        tune_lists = lists / f"syntax{label}.tune.0.nbest"
        with_syntax(model, plain_lists, tune_lists)
        tuned = task.learn([tune_lists])
        test_lists = lists / f"syntax{label}.test.0.nbest"
        seconds = with_syntax(model, [plain_test], test_lists)
        scored = api.read_nbest([test_lists])
        best = [reranked.best for reranked in tuned.predict(scored)]
        results.add(f"reranked{label}", best, (results.costs["n-grams"][0] + seconds, 0.0))
        joint = replace(plain, weights=decoder_weights(tuned), syntax=Syntactic(model))
        print(f"syntax{label}: {joint.weights}", file=sys.stderr)
        joint = task.rounds(joint, f"syntax{label}", arguments.syntax_rounds, [tune_lists])
        results.decode(f"in the search{label}", joint)
    print(*results.lines(), sep="\n")


def options() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "mt")
    for name, value, what in (
        ("tune", 300, "sentences to tune on"),
        ("test", 600, "sentences to test on"),
        ("n", 100, "length of lists"),
        ("rounds", 3, "rounds of tuning"),
        ("syntax-rounds", 1, "rounds of tuning with the syntactic model"),
        ("pops", 100, "hypotheses a stack that are scored"),
        ("stack", 50, "hypotheses a stack that are kept"),
        ("more", 1000, "pops of the second system, 0: leave it out"),
        ("beam", 50, "stores of the syntactic model"),
        ("jobs", 2, "processes"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{what} (default: {value})")
    parser.add_argument("--tuner", default="mira", help="default: mira")
    parser.add_argument("--plain", action="store_true", help="only the decoder without the syntactic model")
    parser.add_argument(
        "--reverse", action="store_true", help="from English into German, as larger_corpus.py --reverse"
    )
    parser.add_argument("--grammar", type=Path, action="append", default=[], help="one more grammar; repeatable")
    parser.add_argument("--lists", type=Path, help="folder for the n-best lists (default: a temporary one)")
    return parser.parse_args()


if __name__ == "__main__":
    given = options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.lists or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        main(given, folder)
