"""Print the perplexity, the speed and the depth of the incremental HHMM beside n-gram models (docs/results/hhmm.md).

All models have the same closed vocabulary, that of the grammar: in training and test texts unknown words are replaced
by its signatures (`closed_trees` makes the trees for a grammar of more text). The weights of a mixture are fitted to
every other sentence of a text; the perplexities are those of the remaining sentences, with `</s>` counted as a word.
The part `lengths` prints milliseconds per word by sentence length; the part `lists` compares scoring an n-best list
with scoring its hypotheses one by one.

DATA is a folder with treebank_gum/gum-train.ptb and gum-dev.ptb; text_en/presidential.txt.xz, textbooks.txt.xz and
novels.txt.xz, with one tokenised sentence per line; mt_nbest_tatoeba_de_en/test.ref and test.nbest.xz (Moses). GRAMMAR
is a file made by `rerank train grammar` or `train hhmm`; the default is the embedded English one.

\b
    python -m docs.results.scripts.hhmm_table DATA gum.pcfg --more more.pcfg
    python -m docs.results.scripts.hhmm_table DATA --parts lengths,lists
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, Listed, experiment, file_of, say
from docs.results.scripts.texts import (
    GUM_TRAIN,
    Words,
    evaluated_texts,
    ngram_model,
    sentences_of_text,
    sentences_of_trees,
)
from rerank_plugins import LanguageModel, RerankError
from rerank_plugins.constituency.language_model import PcfgLanguageModel
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.hhmm.language_model import EMBEDDED, HhmmLanguageModel
from rerank_plugins.hhmm.left_progeny import fitting_mass
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.vocabulary.signatures import UnknownWords, closed
from rerank_plugins.ngram.mixture import fit_weights, mixed
from tests.hhmm.prefix_counts import prefixes

MORE_TEXT = ("text_en/textbooks.txt.xz", "text_en/novels.txt.xz")
BEAMS = (50, 200, 500, 2000)
DEPTHS = range(1, 7)
LENGTHS = (25, 50, 100, 200, 400)
PARTS = ("perplexity", "lengths", "lists")
Texts = Mapping[str, Sequence[Words]]


@experiment("hhmm_table", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("grammar", type=FILE, required=False)
@click.option("--more", type=FILE, help="Add this grammar of more text with the same vocabulary.")
@click.option("--parts", type=Listed(str, PARTS), default=",".join(PARTS), help="Print these parts.")
@click.option(
    "--beams", type=Listed(int), default=",".join(map(str, BEAMS)), help="Beams of the HHMM; 500 is always added."
)
@click.option("--sentences", default=200, help="Take this many sentences of each text and test on half of them.")
@click.option("--lines", default=150_000, help="Train the larger 5-gram model on this many lines of each further text.")
def main(
    data: Path,
    grammar: Path | None,
    more: Path | None,
    parts: Sequence[str],
    beams: Sequence[int],
    sentences: int,
    lines: int,
) -> None:
    """Print the parts that were chosen."""
    path = grammar or EMBEDDED
    if "perplexity" in parts:
        perplexities(data, path, more, sorted({*beams, 500}), sentences, lines)
    if "lengths" in parts:
        by_length(path)
    if "lists" in parts:
        of_a_list(data, path)


def closed_model(path: Path, beam: int, depth: int = 4) -> HhmmLanguageModel:
    """The HHMM over its closed vocabulary, in which signatures are words like others."""
    return HhmmLanguageModel(path, beam=beam, depth=depth, threshold=1e-6, unknown_types=1)


def perplexities(data: Path, path: Path, more: Path | None, beams: Sequence[int], count: int, lines: int) -> None:
    """Print the table of all models and, below them, of mixtures."""
    grammar = HhmmLanguageModel(path).hhmm.grammar
    vocabulary = grammar.lexicon.index
    replaced = UnknownWords().replaced(sentences_of_trees(file_of(data, GUM_TRAIN)))
    treebank = [closed(words, vocabulary) for words in replaced]
    texts = {name: [closed(s, vocabulary) for s in text] for name, text in evaluated_texts(data, count).items()}
    further = [file_of(data, name) for name in MORE_TEXT]
    print(f"{grammar.size} symbols, {len(grammar.binary):,} binary rules, {len(vocabulary):,} words")
    print("depth: " + ", ".join(f"{d} {100 * fitting_mass(grammar, d):.2f} %" for d in DEPTHS), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        say("training n-gram models")
        scratch = Path(folder)
        models: dict[str, LanguageModel] = {
            f"{n}-gram": ngram_model(treebank, n, scratch / str(n)) for n in range(1, 6)
        }
        text = [closed(words, vocabulary) for name in further for words in sentences_of_text(name, lines)]
        models["5-gram, more text"] = ngram_model([*treebank, *text], 5, scratch / "more")
        models["PCFG, exact"] = PcfgLanguageModel(path, unknown_types=1)
        models |= {f"HHMM, beam {beam}": closed_model(path, beam) for beam in beams}
        models["HHMM, beam 500, depth 5"] = closed_model(path, 500, depth=5)
        pairs = [("5-gram", "HHMM, beam 500"), ("5-gram, more text", "HHMM, beam 500"), ("5-gram, more text", "5-gram")]
        if more:
            larger = HhmmLanguageModel(more)
            if set(larger.hhmm.grammar.lexicon.words) != set(vocabulary):
                raise RerankError(
                    f"{more}: has a vocabulary other than that of {path}, so perplexities cannot be compared"
                )
            models |= {f"HHMM, more text, beam {beam}": closed_model(more, beam) for beam in beams}
            pairs += [(name, "HHMM, more text, beam 500") for name in ("5-gram", "5-gram, more text")]
        print("| model | " + " | ".join(texts) + " | words/s |\n| --- " + "| ---: " * (1 + len(texts)) + "|")
        scores: dict[str, dict[str, list[FloatArray]]] = {}
        for name, model in models.items():
            scores[name], pace = scored(model, texts)
            values = [perplexity(scores[name][text]) for text in texts]
            print_row(name, values, f"{pace:,.0f}" if pace < 1e5 else "")
        for pair in pairs:
            print_row(" + ".join(pair), [mixture([scores[name][text] for name in pair]) for text in texts], "")


def scored(model: LanguageModel, texts: Texts) -> tuple[dict[str, list[FloatArray]], float]:
    """The ln p of the words of each sentence, and the words scored per CPU second."""
    model.score([["the", "dog"]])
    started = time.process_time()
    scores = {text: list(model.score(sentences)) for text, sentences in texts.items()}
    seconds = time.process_time() - started
    return scores, sum(len(words) for sentences in texts.values() for words in sentences) / seconds


def print_row(name: str, values: Sequence[float], pace: str) -> None:
    """Print a row of the table."""
    print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + f" | {pace} |", flush=True)


def perplexity(scores: Sequence[FloatArray]) -> float:
    """The perplexity of every other sentence."""
    return math.exp(-np.concatenate(scores[1::2]).mean())


def mixture(columns: Sequence[Sequence[FloatArray]]) -> float:
    """The perplexity of every other sentence by a mixture whose weights are fitted to the remaining ones."""
    held_out, test = (np.stack([np.concatenate(scores[part::2]) for scores in columns], axis=1) for part in (0, 1))
    return math.exp(-mixed(test, fit_weights(held_out)).mean())


def by_length(path: Path) -> None:
    """Print the CPU time per word by sentence length, which shows that the time is linear."""
    model = HhmmLanguageModel(path, beam=200, threshold=1e-6)
    sentence = ("the man who saw the dog in the garden said that the old house was near the sea , and " * 30).split()
    model.score([sentence[:10]])
    for count in LENGTHS:
        started = time.process_time()
        model.score([sentence[:count]])
        print(f"{count} words: {1000 * (time.process_time() - started) / count:.2f} ms per word", flush=True)


def of_a_list(data: Path, path: Path) -> None:
    """Time an n-best list against its hypotheses one by one, and print how much work its trie saves."""
    by_segment: dict[str, list[list[str]]] = {}
    with open_text(file_of(data, "mt_nbest_tatoeba_de_en/test.nbest.xz")) as lines:
        for line in islice(lines, 4000):
            segment, text, *_ = line.split(" ||| ")
            by_segment.setdefault(segment, []).append(text.split())
    nbest = max(
        list(by_segment.values())[:20], key=lambda hypotheses: len(hypotheses[0]) if len(hypotheses) > 90 else 0
    )
    model = HhmmLanguageModel(path)
    model.score(nbest[:1])
    started = time.process_time()
    together = model.totals(nbest)
    middle = time.process_time()
    alone = [float(model.totals([hypothesis])[0]) for hypothesis in nbest]
    ended = time.process_time()
    words, steps = prefixes(nbest)
    if list(together) != alone:
        raise RerankError("the scores of a list differ from those of its hypotheses one by one")
    print(
        f"{len(nbest)}-best list of {words / len(nbest):.1f} words, beam 500: {middle - started:.2f} s as a list, "
        f"{ended - middle:.2f} s one by one; {steps} steps for {words} words ({100 * (1 - steps / words):.0f} % saved)"
    )


if __name__ == "__main__":
    main()
