"""The tables of docs/models/hhmm.md: perplexity, speed and depth of the incremental HHMM beside n-gram models.

    python -m tests.experiments.hhmm_table ../shared/data [GRAMMAR [GRAMMAR of more text]]

All models see one closed vocabulary, that of the grammar: unknown words are its signatures, in training and test (trees
of more text: `tests.experiments.closed_trees`). The weights of a mixture are fitted to every other sentence of a text;
perplexities are those of the rest, `</s>` counted.
"""

import lzma
import math
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from rerank_plugins.models.hhmm.progeny import fitting_mass
from rerank_plugins.models.hhmm_model import EMBEDDED, HhmmModel
from rerank_plugins.models.mixture import fit_weights, mixed
from rerank_plugins.models.ngram_model import NgramModel
from rerank_plugins.models.ngram_training import NgramSettings, train
from rerank_plugins.models.pcfg_model import PcfgModel
from rerank_plugins.models.prefix_trie import prefixes
from rerank_plugins.models.signatures import UnknownWords, closed
from rerank_plugins.trees.cleaning import clean
from rerank_plugins.trees.constituency import read_trees

MORE_TEXT = ("textbooks.txt.xz", "novels.txt.xz")
BEAMS = (50, 200, 500, 2000)
SENTENCES = 200  # of each text
DEPTHS = range(1, 7)


def words_of(path):
    with open(path, encoding="utf-8") as lines:
        return [tree.words() for tree in map(clean, read_trees(lines)) if tree]


def lines_of(path, count):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        sentences = (tuple(line.split()) for line in lines)
        return list(islice((s for s in sentences if 3 <= len(s) <= 60), count))


def texts(folder):
    gum = words_of(folder / "treebank_gum/gum-dev.ptb")
    return {
        "GUM dev": gum[:: len(gum) // SENTENCES][:SENTENCES],
        "Tatoeba": lines_of(folder / "mt_nbest_tatoeba_de_en/test.ref", SENTENCES),
        "presidents": lines_of(folder / "text_en/presidential.txt.xz", 20 * SENTENCES)[::20],
    }


def ngram(name, sentences, order, folder):
    path = Path(folder) / f"{name}{order}.ngram"
    train([(name, (" ".join(s) for s in sentences))], NgramSettings(order)).ngrams.save(path)
    return NgramModel(path)


def main(folder, path=EMBEDDED, larger=None):
    grammar = HhmmModel(path).hhmm.grammar
    vocabulary = grammar.lexicon.index
    treebank = [
        closed(sentence, vocabulary)
        for sentence in UnknownWords().replaced(words_of(folder / "treebank_gum/gum-train.ptb"))
    ]
    evaluated = {name: [closed(s, vocabulary) for s in found] for name, found in texts(folder).items()}
    print(f"{grammar.size} symbols, {len(grammar.binary):,} binary rules, {len(vocabulary):,} words")
    print("depth: " + ", ".join(f"{d} {100 * fitting_mass(grammar, d):.2f} %" for d in DEPTHS))
    with tempfile.TemporaryDirectory() as scratch:
        models = {f"{n}-gram": ngram("gum", treebank, n, scratch) for n in range(1, 6)}
        more = [closed(s, vocabulary) for name in MORE_TEXT for s in lines_of(folder / "text_en" / name, 150_000)]
        models["5-gram, more text"] = ngram("more", [*treebank, *more], 5, scratch)
        models["PCFG, exact"] = PcfgModel(path)
        models |= {f"HHMM, beam {beam}": HhmmModel(path, beam=beam) for beam in BEAMS}
        models["HHMM, beam 500, depth 5"] = HhmmModel(path, beam=500, depth=5)
        pairs = [("5-gram", "HHMM, beam 500"), ("5-gram, more text", "HHMM, beam 500"), ("5-gram, more text", "5-gram")]
        if larger:
            assert set(HhmmModel(larger).hhmm.grammar.lexicon.words) == set(vocabulary), f"{larger}: another vocabulary"
            models |= {f"HHMM, more text, beam {beam}": HhmmModel(larger, beam=beam) for beam in BEAMS}
            pairs += [(name, "HHMM, more text, beam 500") for name in ("5-gram", "5-gram, more text")]
        print("| model | " + " | ".join(evaluated) + " | words/s |\n| --- " + "| ---: " * (1 + len(evaluated)) + "|")
        scored = {}
        for name, model in models.items():
            model.score([["the", "dog"]])
            started = time.process_time()
            scored[name] = {text: model.score(sentences) for text, sentences in evaluated.items()}
            seconds = time.process_time() - started
            words = sum(len(s) for sentences in evaluated.values() for s in sentences)
            speed = words / seconds
            row(name, [perplexity(scored[name][text]) for text in evaluated], f"{speed:,.0f}" if speed < 1e5 else "")
        for pair in pairs:
            row(" + ".join(pair), [mixture([scored[name][text] for name in pair]) for text in evaluated], "")
    lengths(path)
    lists(folder, path)


def row(name, values, speed):
    print(f"| {name} | " + " | ".join(f"{value:.1f}" for value in values) + f" | {speed} |", flush=True)


def perplexity(scores):
    return math.exp(-np.concatenate(scores[1::2]).mean())


def mixture(columns):
    held_out, test = (np.stack([np.concatenate(scores[part::2]) for scores in columns], axis=1) for part in (0, 1))
    return math.exp(-mixed(test, fit_weights(held_out)).mean())


def lengths(path):
    """CPU a word by the length of the sentence: linear time."""
    model = HhmmModel(path, beam=200)
    sentence = ("the man who saw the dog in the garden said that the old house was near the sea , and " * 30).split()
    model.score([sentence[:10]])
    for count in (25, 50, 100, 200, 400):
        started = time.process_time()
        model.score([sentence[:count]])
        print(f"{count} words: {1000 * (time.process_time() - started) / count:.2f} ms a word", flush=True)


def lists(folder, path):
    """An n-best list against its hypotheses one by one, and how much of the work its trie saves."""
    with lzma.open(folder / "mt_nbest_tatoeba_de_en/test.nbest.xz", "rt", encoding="utf-8") as lines:
        fields = (line.split(" ||| ") for line in islice(lines, 4000))
        by_segment = {}
        for segment, text, *_ in fields:
            by_segment.setdefault(segment, []).append(text.split())
    nbest = max(
        list(by_segment.values())[:20], key=lambda hypotheses: len(hypotheses[0]) if len(hypotheses) > 90 else 0
    )
    model = HhmmModel(path)
    model.score(nbest[:1])
    started = time.process_time()
    together = model.totals(nbest)
    middle = time.process_time()
    alone = [float(model.totals([hypothesis])[0]) for hypothesis in nbest]
    ended = time.process_time()
    words, steps = prefixes(nbest)
    assert list(together) == alone
    print(
        f"{len(nbest)}-best list of {words / len(nbest):.1f} words, beam 500: {middle - started:.2f} s as a list, "
        f"{ended - middle:.2f} s one by one; {steps} steps for {words} words ({100 * (1 - steps / words):.0f} % saved)"
    )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
