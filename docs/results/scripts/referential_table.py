"""Print what referents contribute to recognition in the student-activities domain (docs/results/referential.md).

The domain is made by example_nbest/referential/students: worlds of 240 and 4,175 entities (and 100,000 for the times),
144 directives, and what is heard of them through a channel of phones at each of --levels of noise, drawn before any
system runs. No data is needed. Parts of the table:

\b
    worlds   entities, vocabulary and departing arcs (the paper's perplexity) of the worlds
    search   errors of each model inside the search, with a beam of --beam hypotheses at each phone
    lists    errors where each model reranks the --n best word sequences of a loop of all words
    times    CPU seconds a directive by the size of the world and the beam, for --timed directives; --plot draws them

Concept errors are insertions, deletions and substitutions of relation labels by 100 labels. Every model is used as it
is, P(heard | words) P(words), with nothing tuned. Differences are to LM-Sem with 240 entities; p is that of the paired
bootstrap and of approximate randomisation over directives.

\b
    python -m docs.results.scripts.referential_table --plot times.svg
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, Listed, counted, experiment, say
from example_nbest.referential.students import make, ontology
from example_nbest.referential.students.channel import Channel
from example_nbest.referential.students.directives import concepts, directives
from example_nbest.referential.students.recogniser import LARGE, Arc, Recogniser
from example_nbest.referential.students.search import Automaton, ReferentialAutomaton, TrigramAutomaton, search
from rerank_adapters.evaluation import evaluate
from rerank_adapters.metrics.accuracy import Accuracy
from rerank_adapters.metrics.edit_rate import WER
from rerank_adapters.report.plots import new_figure, save_figure
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError
from rerank_plugins.referential.language_model import ReferentialLanguageModel
from rerank_plugins.referential.model import ReferentialModel
from rerank_plugins.referential.trigrams import TrigramModel

PARTS = ("worlds", "search", "lists", "times")
GRAMMAR = Path(__file__).resolve().parents[3] / "example_nbest" / "referential" / "grammars" / "directives.grammar"
SIZES = {240: ontology.SMALL, 4175: ontology.LARGE, 100_000: ontology.HUGE}
PAPER = {"LM-Sem, 240": "17.1", "LM-Sem, 4175": "19.9", "LM-Trigram, 240": "26.6", "LM-NoSem, 240": "43.5"}
PAPER_SENTENCES = {
    "LM-Sem, 240": "59.44",
    "LM-Sem, 4175": "62.24",
    "LM-Trigram, 240": "66.43",
    "LM-NoSem, 240": "93.01",
}
LEVELS, DEPTH = (0.2, 0.3, 0.4, 0.5), 3


class System(NamedTuple):
    """A model over a world: its semantics, and the number of entities."""

    semantics: str
    entities: int


SYSTEMS = {
    "LM-Sem, 240": System("world", 240),
    "LM-Sem, 4175": System("world", 4175),
    "LM-Trigram, 240": System("trigram", 240),
    "LM-NoSem, 240": System("none", 240),
}


@cache
def arcs_of(entities: int) -> list[ontology.Arc]:
    """The arcs of a world."""
    return ontology.small_world() if entities == 240 else ontology.world(SIZES[entities])


def model_of(system: System, grammar: Path, folder: Path) -> ReferentialLanguageModel:
    """The language model of a system, with the uniform distributions of the paper."""
    path = folder / f"{system.entities}.csv"
    if not path.exists():
        ontology.write_csv(arcs_of(system.entities), path)
    return ReferentialLanguageModel(
        world=path, grammar=grammar, semantics=system.semantics, description="uniform", depth=DEPTH,  # type: ignore[arg-type]
    )  # fmt: skip


def automaton_of(model: ReferentialLanguageModel) -> Automaton:
    """The model as the search sees it."""
    stepping: ReferentialModel | TrigramModel = model.stepping
    return TrigramAutomaton(stepping) if isinstance(stepping, TrigramModel) else ReferentialAutomaton(stepping)


def worlds(grammar: Path, folder: Path, sizes: Sequence[int]) -> None:
    """Print the sizes and perplexities of the worlds."""
    rows = []
    for entities in sizes:
        started = time.process_time()
        world = model_of(System("world", entities), grammar, folder).model.world
        seconds = time.process_time() - started
        assert world.taxonomy is not None
        nodes = range(0, len(world.names), max(1, len(world.names) // 5000))
        departing = [
            len(arcs(referent))
            for referent in map(world.taxonomy.extension, nodes)
            for arcs in (world.taxonomy.down, world.taxonomy.up)
        ]
        words = len({word for arc in arcs_of(entities) for word in arc.label.split()})
        mean = sum(departing) / len(nodes)
        size = SIZES[entities]
        rows.append(
            (
                f"{len(world.names):,}",
                f"{size.concepts:,} + {size.students:,}",
                f"{words:,}",
                f"{mean:.2f}",
                f"{seconds:.2f}",
            )
        )
    header = ("entities", "concepts + students", "words", "departing arcs", "seconds to read")
    print(markdown_table(Table("Worlds", header, tuple(rows))))


@dataclass(frozen=True)
class Utterances:
    """Directives as they were heard, with the words that were found in them."""

    arcs: list[list[Arc]]
    lengths: list[int]
    recogniser: Recogniser

    @cached_property
    def lists(self) -> dict[int, list[list[tuple[str, float]]]]:
        """The lists made so far, by their length."""
        return {}

    def nbest(self, n: int) -> list[list[tuple[str, float]]]:
        """The n best texts of each utterance, with ln P(heard | text)."""
        if n not in self.lists:
            pairs = zip(self.arcs, self.lengths, strict=True)
            self.lists[n] = [self.recogniser.nbest(arcs, phones, n) for arcs, phones in pairs]
        return self.lists[n]


@cache
def utterances(texts: tuple[str, ...], level: float, entities: int, kept: int) -> Utterances:
    """What is heard of the directives, and the words of a world that it may have been."""
    heard = make.heard(texts, level)
    recogniser = Recogniser(make.vocabulary(arcs_of(entities)), Channel(level), kept)
    arcs = [recogniser.arcs(phones) for _, phones in counted(heard, f"directives heard at {level:g}")]
    return Utterances(arcs, [len(phones) for _, phones in heard], recogniser)


def compare(
    title: str, texts: tuple[str, ...], levels: Sequence[float], systems: Sequence[str], kept: int,
    decode: Callable[[str, Utterances], list[str]],
) -> None:  # fmt: skip
    """Print the errors of all systems at all levels."""
    rows = []
    for level in levels:
        heard = {
            entities: utterances(texts, level, entities, kept) for entities in {SYSTEMS[s].entities for s in systems}
        }
        outputs = {name: decode(name, heard[SYSTEMS[name].entities]) for name in systems}
        labels = {name: frozenset(arc.label for arc in arcs_of(SYSTEMS[name].entities)) for name in systems}
        joined = {name: [concepts(text, labels[name]) for text in outputs[name]] for name in systems}
        small = labels[systems[0]]
        right = [(concepts(text, small),) for text in texts]
        by_label = evaluate(joined, right, {"concepts": WER()}).metrics[0]
        by_text = evaluate(outputs, [(text,) for text in texts], {"sentences": Accuracy()}).metrics[0]
        for score, sentences in zip(by_label.systems, by_text.systems, strict=True):
            cells = [f"{level:g}", score.system, f"{score.score:.1f}", "", "", f"{100 - sentences.score:.1f}", ""]
            for place, compared, sign in ((3, score.comparison, 1), (6, sentences.comparison, -1)):
                if compared is not None:
                    low, high = sorted(sign * end + 0.0 for end in compared.interval or (np.nan, np.nan))
                    p = f"{compared.bootstrap_p:.3f}, {compared.randomisation_p:.3f}"
                    cells[place] = f"{sign * compared.difference + 0.0:+.1f} [{low:+.1f}, {high:+.1f}]"
                    cells[place + 1 if place == 3 else place] += p if place == 3 else f"; {p}"
            rows.append((*cells, PAPER.get(score.system, ""), PAPER_SENTENCES.get(score.system, "")))
            say(" | ".join(rows[-1]))
    header = (
        "noise",
        "model",
        "concept errors",
        "difference",
        "p",
        "sentence errors",
        "difference; p",
        "paper",
        "paper, sentences",
    )
    print(markdown_table(Table(title, header, tuple(rows))))


def times(
    grammar: Path,
    folder: Path,
    texts: tuple[str, ...],
    sizes: Sequence[int],
    beams: Sequence[int],
    n: int,
    plot: Path | None,
) -> None:
    """Print, and plot, the seconds that the search takes for a directive."""
    rows, series = [], {beam: [] for beam in beams}  # type: ignore[var-annotated]
    for entities in sizes:
        heard = utterances(texts, 0.3, entities, LARGE)
        model = model_of(System("world", entities), grammar, folder)
        timed: list[tuple[list[float], int]] = []
        for beam in beams:
            automaton = ReferentialAutomaton(model.model)
            passes, tried = [], 0
            for _ in range(2):
                started = time.process_time()
                tried = sum(
                    search(automaton, arcs, n, beam)[2] for arcs, n in zip(heard.arcs, heard.lengths, strict=True)
                )
                passes.append((time.process_time() - started) / len(texts))
            series[beam].append(passes[1])
            timed.append((passes, tried))
        lists = [[text.split() for text, _ in nbest] for nbest in heard.nbest(n)]
        started = time.process_time()
        for sentences in lists:
            model.totals(sentences)
        rate = sum(map(len, lists)) / (time.process_time() - started)
        for beam, (passes, tried) in zip(beams, timed, strict=True):
            each = f"{tried / len(texts):,.0f}"
            rows.append((f"{entities:,}", str(beam), f"{passes[0]:.3f}", f"{passes[1]:.3f}", each, f"{rate:,.0f}"))
    header = (
        "entities",
        "beam",
        "seconds, first time",
        "seconds, again",
        "hypotheses tried",
        "hypotheses of lists a second",
    )
    print(markdown_table(Table("Times", header, tuple(rows))))
    if plot is not None:
        figure, axes = new_figure()
        for beam, seconds in series.items():
            axes.plot(sizes, seconds, marker="o", label=f"beam {beam}")
        axes.set_xscale("log")
        axes.set_xticks(sizes, [f"{entities:,}" for entities in sizes])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("entities in the world")
        axes.set_ylabel("CPU seconds a directive")
        axes.legend()
        save_figure(figure, plot)


@experiment("referential_table", __doc__)
@click.option("--parts", type=Listed(str, PARTS), default=",".join(PARTS), help="Parts of the table.")
@click.option("--grammar", type=FILE, default=GRAMMAR, show_default=False,
              help="Grammar of the directives.  [default: that of the example]")  # fmt: skip
@click.option("--levels", type=Listed(float), default=",".join(map(str, LEVELS)), help="Levels of noise.")
@click.option("--directives", "number", type=click.IntRange(1), default=144, help="Directives recognised.")
@click.option("--sizes", type=Listed(int), default="240,4175,100000", help="Entities of the worlds.")
@click.option("--n", type=click.IntRange(1), default=300, help="Hypotheses of a list.")
@click.option("--kept", type=click.IntRange(1), default=LARGE,
              help="Words of a large vocabulary among which one is kept for a stretch of phones.")  # fmt: skip
@click.option("--beam", type=click.IntRange(1), default=1000, help="Hypotheses at each phone.")
@click.option("--beams", type=Listed(int), default="100,300,1000", help="Beams that are timed.")
@click.option("--timed", type=click.IntRange(1), default=36, help="Directives that are timed.")
@click.option("--plot", type=click.Path(path_type=Path), help="Plot the times to this file.")
def main(
    parts: tuple[str, ...], grammar: Path, levels: tuple[float, ...], number: int, sizes: tuple[int, ...], n: int,
    kept: int, beam: int,
    beams: tuple[int, ...], timed: int, plot: Path | None,
) -> None:  # fmt: skip
    """Print the parts of the table."""
    if not set(sizes) <= set(SIZES) or 240 not in sizes:
        raise RerankError(f"--sizes {','.join(map(str, sizes))}: wanted 240, and perhaps 4175 and 100000")
    texts = tuple(directives(arcs_of(240))[:number])
    length = np.mean([len(text.split()) for text in texts])
    print(f"{len(texts)} directives of {length:.2f} words\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "worlds" in parts:
            worlds(grammar, folder, sizes)
        systems = [system for system, (_, entities) in SYSTEMS.items() if entities in sizes]
        models = cache(lambda system: model_of(SYSTEMS[system], grammar, folder))
        automata = cache(lambda system: automaton_of(models(system)))

        def by_search(system: str, heard: Utterances) -> list[str]:
            say(f"searching with {system}")
            best = []
            for arcs, phones in zip(heard.arcs, heard.lengths, strict=True):
                best.append(search(automata(system), arcs, phones, beam)[0])
            return best

        def by_list(system: str, heard: Utterances) -> list[str]:
            held = sum(text in dict(nbest) for text, nbest in zip(texts, heard.nbest(n), strict=True))
            say(f"reranking with {system}; {held} of {len(texts)} lists hold the directive")
            chosen = []
            for nbest in heard.nbest(n):
                ln_p = models(system).totals([text.split() for text, _ in nbest])
                chosen.append(nbest[int(np.argmax(ln_p + [heard_ln_p for _, heard_ln_p in nbest]))][0])
            return chosen

        for part, title, decode in (("search", "In the search", by_search), ("lists", "Reranked lists", by_list)):
            if part in parts:
                compare(title, texts, levels, systems, kept, decode)
        if "times" in parts:
            times(grammar, folder, texts[:timed], sizes, beams, n, plot)


if __name__ == "__main__":
    main()
