"""Print how well a language model finds the substitutes that people gave for words (docs/results/substitutes.md).

DATA has eval_only/lexsub (the English lexical substitution task of SemEval 2007, and CoInCo) and the treebanks EWT and
GUM, from which the inflected forms of the lemmas come; MODEL is an n-gram model of lower-case text. Three systems score
a word in the place of the target: its 1-gram probability, the probability after the words to its left, and all n-grams
that hold the place. The score of a lemma is that of its best form.

`best` and `oot` are those of the task (McCarthy and Navigli 2007): the weight that people gave to a system's first
lemma, and to its first ten, over the weight of all their lemmas. Guesses are lemmas that the treebanks have with the
part of speech of the target, but not the target. `GAP` is the generalised average precision (Kishida 2005; Thater et al.
2010) of the ranking of all lemmas of one word that anyone gave for the target, expressions of several words left out.

\b
    python -m docs.results.scripts.lexical_substitution ../shared/data lower.ngram
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from docs.results.scripts.experiment import FILE, FOLDER, counted, experiment, file_of
from rerank_adapters.report.tables import Table
from rerank_adapters.report.text import markdown_table
from rerank_plugins import RerankError
from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.kernels import kernel
from rerank_plugins.kit.vocabulary.word_ids import BOS, EOS
from rerank_plugins.substitutes.fastsubs import FastSubs
from rerank_plugins.substitutes.window_scores import score_word, step

TREEBANKS = ("treebank_ewt/ewt-train.conllu.xz", "treebank_gum/gum-train.conllu.xz")
SETS = {
    "lst": ("lst_all.preprocessed", "lst_all.gold", "lst.gold.candidates"),
    "coinco": (
        "coinco_all.no_problematic.preprocessed",
        "coinco_all.no_problematic.gold",
        "coinco.no_problematic.candidates",
    ),
}
PARTS = {"n": ("NOUN", "PROPN"), "v": ("VERB", "AUX"), "a": ("ADJ",), "j": ("ADJ",), "r": ("ADV",)}
SYSTEMS = ("1-grams", "left context", "substitutes")
OUT_OF_TEN = 10
LIKELY = 2000  # words among which guesses are looked for
Forms = Mapping[tuple[str, str], Sequence[str]]  # (lemma, part of speech) -> inflected forms


class Item(NamedTuple):
    """A target in its sentence, and the lemmas that people gave for it with how many gave each."""

    target: str
    position: int
    words: list[str]
    gold: dict[str, float]

    @property
    def part(self) -> str:
        """The part of speech, as PARTS names it."""
        return self.target.rpartition(".")[2].lower()


def read_items(folder: Path, names: Sequence[str], every: int) -> tuple[list[Item], dict[str, list[str]]]:
    """Every n-th target that people gave a substitute for, and the lemmas of one word that anyone gave by target."""
    texts, golds, candidates = (file_of(folder, name) for name in names)
    gold: dict[tuple[str, str], dict[str, float]] = {}
    with open_text(golds) as lines:
        for line in lines:
            key, _, lemmas = line.partition(" :: ")
            pairs = (part.rpartition(" ") for part in lemmas.strip().split(";") if part.strip())
            gold[*key.split(" ")] = {lemma: float(weight) for lemma, _, weight in pairs}  # type: ignore[index]
    items = []
    with open_text(texts) as lines:
        for line in lines:
            target, number, position, sentence = line.rstrip("\n").split("\t")
            if given := gold.get((target, number)):
                items.append(Item(target, int(position), sentence.split(), given))
    by_target = {}
    for line in candidates.read_text("utf-8", errors="replace").splitlines():  # CoInCo has stray bytes
        target, _, lemmas = line.strip().partition("::")
        by_target[target] = [lemma for lemma in lemmas.split(";") if lemma and " " not in lemma]
    return items[::every], by_target


def read_forms(data: Path) -> tuple[dict[tuple[str, str], list[str]], dict[tuple[str, str], str]]:
    """The forms of each lemma in the treebanks by part of speech, and the lemma of each form."""
    forms: dict[tuple[str, str], list[str]] = defaultdict(list)
    lemmas: dict[tuple[str, str], str] = {}
    of_tag = {tag: part for part, tags in PARTS.items() for tag in tags if part != "j"}
    for name in TREEBANKS:
        with open_text(file_of(data, name)) as lines:
            for line in lines:
                cells = line.split("\t")
                if len(cells) == 10 and cells[3] in of_tag:
                    form, lemma, part = cells[1].lower(), cells[2].lower(), of_tag[cells[3]]
                    if (form, part) not in lemmas:
                        lemmas[form, part] = lemma
                        forms[lemma, part].append(form)
    return forms, lemmas


@kernel
def score_every_word(
    contexts: Any, events: Any, levels: Any, unseen: float, left: int, length: int, right: Any, scores: Any
) -> None:
    """Fill in S(w) of every word of the vocabulary."""
    for word in range(len(scores)):
        scores[word] = score_word(contexts, events, levels, unseen, left, length, right, word)


def average_precision(ranked: Sequence[float]) -> float:
    """The generalised average precision of gold weights in the order of a ranking.

    >>> average_precision([2.0, 0.0, 1.0]), average_precision([2.0, 1.0, 0.0])
    (0.8571428571428571, 1.0)
    """

    def total(weights: FloatArray) -> float:
        return float((np.cumsum(weights) / np.arange(1, len(weights) + 1))[weights > 0].sum())

    weights = np.array(ranked)
    return total(weights) / total(np.sort(weights)[::-1])


class Systems:
    """The scores of all words of a model in the place of a target, by each of SYSTEMS."""

    def __init__(self, model: FastSubs) -> None:
        self.model, tables = model, model.ngrams.tables
        self.one = tables.events["log10"][: tables.sizes[0]].astype(np.float64)
        self.arrays = tables.contexts, tables.events, tables.context_levels, tables.unseen

    def scores(self, item: Item) -> FloatArray:
        """(systems, words) log10."""
        tokens = self.model.encode([item.words])
        place = item.position + 1
        context = 0
        for token in tokens[:place]:
            context = step(*self.arrays[:2], context, token, BOS)
        scores = np.empty((len(SYSTEMS), len(self.one)))
        scores[0] = self.one
        window = tokens[place + 1 : place + self.model.ngrams.tables.order]
        for row, right in ((1, tokens[:0]), (2, window)):
            score_every_word(*self.arrays, context, place, right, scores[row])
        scores[:, :3] = -np.inf
        return scores


def guesses(scores: FloatArray, lemma_of: Sequence[str | None], target: str) -> list[str]:
    """The first ten lemmas by their best form, the target left out; None is the lemma of words that are no guess."""
    lemmas: dict[str, None] = {}
    some = np.argpartition(-scores, min(LIKELY, len(scores) - 1))[:LIKELY]
    for word in some[np.argsort(-scores[some], kind="stable")].tolist():
        lemma = lemma_of[word]
        if lemma is not None and lemma != target and math.isfinite(scores[word]):
            lemmas.setdefault(lemma)
        if len(lemmas) == OUT_OF_TEN:
            break
    return list(lemmas)


@experiment("lexical_substitution", __doc__)
@click.argument("data", type=FOLDER)
@click.argument("model", type=FILE)
@click.option("--set", "name", type=click.Choice(list(SETS)), default="lst", help="SemEval's task, or CoInCo.")
@click.option("--every", default=1, help="Take every n-th target only.")
def main(data: Path, model: Path, name: str, every: int) -> None:
    """Score all targets, and print the table."""
    items, candidates = read_items(data / "eval_only/lexsub", SETS[name], every)
    if not items:
        raise RerankError(f"{data}: there are no targets with substitutes")
    forms, lemmas = read_forms(data)
    systems = Systems(FastSubs.load(model))
    vocabulary = systems.model.ngrams.vocabulary
    assert vocabulary.words[EOS] == "</s>"
    lemma_of = {part: [lemmas.get((word, part)) for word in vocabulary.words] for part in ("n", "v", "a", "r")}
    best, out_of_ten, precisions = (np.zeros((len(SYSTEMS), len(items))) for _ in range(3))
    ranked_items = np.zeros(len(items), bool)
    for column, item in enumerate(counted(items, "targets")):
        part = "a" if item.part == "j" else item.part
        target = item.target.rpartition(".")[0].lower()
        weight = sum(item.gold.values())
        choices = [lemma for lemma in candidates.get(item.target, []) if lemma.lower() != target]
        numbers = [
            [vocabulary.number[form] for form in {lemma, *forms.get((lemma, part), ())} if form in vocabulary]
            for lemma in choices
        ]
        gold = [item.gold.get(lemma, 0.0) for lemma in choices]
        ranked_items[column] = any(gold)
        for row, scores in enumerate(systems.scores(item)):
            first = guesses(scores, lemma_of[part], target)
            best[row, column] = item.gold.get(first[0], 0.0) / weight if first else 0.0
            out_of_ten[row, column] = sum(item.gold.get(lemma, 0.0) for lemma in first) / weight
            if any(gold):
                of_lemmas = np.array([scores[forms_].max() if forms_ else -np.inf for forms_ in numbers])
                order = np.argsort(-of_lemmas, kind="stable")
                precisions[row, column] = average_precision([gold[i] for i in order])
    rows = [
        (system, *(f"{100 * float(values):.2f}" for values in (best[row].mean(), out_of_ten[row].mean())),
         f"{100 * float(precisions[row, ranked_items].mean()):.2f}")
        for row, system in enumerate(SYSTEMS)
    ]  # fmt: skip
    title = f"{name}: {len(items)} targets, {int(ranked_items.sum())} rankings, {model.name}"
    print(markdown_table(Table(title, ("system", "best", "oot", "GAP"), tuple(rows))))


if __name__ == "__main__":
    main()
