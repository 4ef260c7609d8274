"""Print the CPU time of a step of language models inside a search: one by one, and all beams at once.

MODEL is an n-gram model (ARPA, or from `rerank train ngram`), and TEXT has one tokenised sentence per line. Beams are
the first sentences of the text, each of which advances by one word at a time; they are repeated until there are enough.

\b
    python -m docs.results.scripts.scorer_speed example_nbest/mt/lm.arpa example_nbest/mt/test.en
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click

from docs.results.scripts.experiment import FILE, experiment
from rerank_adapters.decoding import BeamScorer
from rerank_plugins import RerankError
from rerank_plugins.core.interfaces import IncrementalLM
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.language_models import advance_all
from rerank_plugins.ngram.language_model import NgramLanguageModel

Stepping = Callable[[Sequence[Any], Sequence[str]], Sequence[Any]]  # states and words -> the states after them


@experiment("scorer_speed", __doc__)
@click.argument("model", type=FILE)
@click.argument("text", type=FILE)
@click.option("--beams", default=100, help="Beams that advance at once.")
@click.option("--words", default=6, help="Words by which each advances.")
@click.option("--stores", default=50, help="Beam of the HHMM.")
@click.option("--repeats", default=5, help="Time this many runs, and print the best.")
def main(model: Path, text: Path, beams: int, words: int, stores: int, repeats: int) -> None:
    """Print the table."""
    with open_text(text) as lines:
        sentences = [line.split()[:words] for line in lines if len(line.split()) >= words]
    if not sentences:
        raise RerankError(f"{text}: no sentence has {words} words")
    chosen = list(islice(cycle(sentences), beams))
    columns = [[sentence[place] for sentence in chosen] for place in range(words)]
    distinct = len({tuple(sentence[: place + 1]) for sentence in chosen for place in range(words)})
    print(f"{beams} beams, {words} words, {distinct} distinct steps of {beams * words}\n")
    print("| model | one by one, µs a step | at once | by a scorer | again |\n| --- | ---: | ---: | ---: | ---: |")
    models: dict[str, IncrementalLM[Any]] = {
        "n-grams": NgramLanguageModel(model), f"HHMM, beam {stores}": HhmmLanguageModel(beam=stores, threshold=1e-6)
    }  # fmt: skip
    for name, stepping in models.items():
        alone: list[float] = []
        together: list[float] = []
        scored: list[float] = []
        again: list[float] = []
        for _ in range(repeats + 1):
            alone.append(pace(lambda states, column: [stepping.advance(*x)[1] for x in zip(states, column, strict=True)],  # noqa: B023
                              stepping.start(), columns))  # fmt: skip
            together.append(pace(lambda states, column: advance_all(stepping, states, column)[1],  # noqa: B023
                                 stepping.start(), columns))  # fmt: skip
            scorer = BeamScorer(stepping)
            for times in (scored, again):
                times.append(pace(lambda states, column: scorer(states, column)[1], scorer.start(), columns))  # noqa: B023
        values = " | ".join(f"{min(times[1:]):.2f}" for times in (alone, together, scored, again))
        print(f"| {name} | {values} |", flush=True)


def pace(step: Stepping, start: Any, columns: Sequence[Sequence[str]]) -> float:
    """CPU µs a step, from the start of a sentence."""
    states: Sequence[Any] = [start] * len(columns[0])
    began = time.process_time()
    for column in columns:
        states = step(states, column)
    return 1e6 * (time.process_time() - began) / sum(map(len, columns))


if __name__ == "__main__":
    main()
