"""The meanings of sentences by a parser and a model of concepts, which are remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rerank_plugins import Parser, Sentence
from rerank_plugins.kit.files.model_file import model_kind
from rerank_plugins.kit.remembered import MEGABYTE, Remembered
from rerank_plugins.similarity.meaning import EMPTY, Concepts, Meaning, meanings
from rerank_plugins.svs import concept_model, model
from rerank_plugins.svs.given_trees import ConceptsOnTrees

REMEMBERED = 32 * MEGABYTE  # of sentences and their meanings
LONGEST = 80  # words: a longer sentence is not parsed
BATCH = 500  # sentences whose concepts are inferred together


def read_concepts(path: Path | None) -> Concepts:
    """The concepts of a file of `rerank train svs-concepts` or of `rerank train svs`; None: the embedded English ones.

    Raises ModelError for a file that is missing, cut short, of another version or kind.
    """
    if path is not None and path.is_file() and model_kind(path) == model.KIND:
        return ConceptsOnTrees(model.read_or_embedded(path))
    return concept_model.read_or_embedded(path)


@dataclass(eq=False)
class SentenceMeanings:
    """The meanings of sentences; one that is empty, too long or without a tree has no words.

    `trees` is a parser that gives constituents, of which the best tree is taken.
    """

    trees: Parser
    concepts: Concepts
    longest: int = LONGEST
    _known: Remembered[tuple[str, ...], Meaning] = field(default_factory=lambda: Remembered(REMEMBERED), repr=False)

    def of(self, sentences: Sequence[Sentence]) -> list[Meaning]:
        """The meaning of each sentence; each new one is parsed once."""
        keys, known = [tuple(sentence) for sentence in sentences], self._known
        known.make_room()
        new = [key for key in dict.fromkeys(keys) if key not in known]
        parsed = [key for key in new if 0 < len(key) <= self.longest]
        for key in new:
            known.keep(key, EMPTY, 0)
        for start in range(0, len(parsed), BATCH):
            batch = parsed[start : start + BATCH]
            trees = [parse.tree for parse in self.trees.parse(batch)]
            for key, meaning in zip(batch, meanings(self.concepts, trees), strict=True):
                known.keep(key, meaning, size_of(meaning))
        return [known[key] for key in keys]


def size_of(meaning: Meaning) -> int:
    """The bytes of a meaning: an estimate, as texts are shared by sentences."""
    arrays = meaning.information, meaning.places, meaning.ratios, meaning.posteriors
    return 32 * len(meaning.words) + sum(array.nbytes for array in arrays)
