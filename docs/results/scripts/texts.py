"""Sentences and trees of a data folder, which several experiments read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from pathlib import Path

from docs.results.scripts.experiment import file_of
from rerank_plugins.core.constituency_tree import Tree, read_trees
from rerank_plugins.kit.files.text import open_text
from rerank_plugins.kit.trees.treebank_cleaning import clean
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.ngram.training import NgramSettings, train

Words = tuple[str, ...]
GUM_TRAIN, GUM_DEV = "treebank_gum/gum-train.ptb", "treebank_gum/gum-dev.ptb"
CRAFT_TRAIN, CRAFT_DEV = "treebank_craft/craft-train.ptb.xz", "treebank_craft/craft-dev.ptb.xz"
TATOEBA, PRESIDENTS = "mt_nbest_tatoeba_de_en/test.ref", "text_en/presidential.txt.xz"
SHORTEST, LONGEST = 3, 60  # words of a sentence of running text
SHORT = 40  # words of a tree


def cleaned_trees(path: Path, labels: Mapping[str, str] | None = None, keep: Collection[str] = ()) -> list[Tree]:
    """The trees of a file of brackets, without traces, function tags and trees that have no words."""
    with open_text(path) as lines:
        return [tree for tree in (clean(tree, labels, keep) for tree in read_trees(lines, str(path))) if tree]


def sentences_of_trees(path: Path) -> list[Words]:
    """The words of each tree of a file of brackets."""
    return [tree.words() for tree in cleaned_trees(path)]


def sentences_of_text(path: Path, most: int) -> list[Words]:
    """The first `most` sentences of 3 to 60 words of a text, which has one sentence per line."""
    with open_text(path) as lines:
        sentences = (tuple(line.split()) for line in lines)
        return list(islice((words for words in sentences if SHORTEST <= len(words) <= LONGEST), most))


def evaluated_texts(folder: Path, most: int) -> dict[str, list[Words]]:
    """At most `most` sentences of each text, inside and outside the domain of GUM."""
    gum = sentences_of_trees(file_of(folder, GUM_DEV))
    return {
        "GUM dev": gum[:: max(1, len(gum) // most)][:most],
        "Tatoeba": sentences_of_text(file_of(folder, TATOEBA), most),
        "presidents": sentences_of_text(file_of(folder, PRESIDENTS), 20 * most)[::20],
    }


def short_dev_trees(folder: Path) -> list[Tree]:
    """The trees of GUM's development set of up to 40 words."""
    return [tree for tree in cleaned_trees(file_of(folder, GUM_DEV)) if len(tree.words()) <= SHORT]


def ngram_model(sentences: list[Words], order: int, path: Path) -> NgramLanguageModel:
    """Train an n-gram model on the sentences with default settings; its file is `path`."""
    train([(path.name, (" ".join(words) for words in sentences))], NgramSettings(order)).ngrams.save(path)
    return NgramLanguageModel(path)
