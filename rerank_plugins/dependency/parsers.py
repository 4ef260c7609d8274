"""The parsers that a config names: our own with a model file or the embedded English model, and files of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rerank_plugins.core.brackets_and_quotes import Words, normal_form
from rerank_plugins.core.dependency_tree import read_conllu
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.interfaces import Parser, Sentence, option
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.pickling import PickledFields
from rerank_plugins.core.scored_trees import ScoredTree
from rerank_plugins.core.trained_on import TrainedOn
from rerank_plugins.kit.files.languages import embedded, shared_if_embedded
from rerank_plugins.kit.files.packed_parses import over_tokens
from rerank_plugins.kit.trees.dependency_constituents import as_constituents
from rerank_plugins.kit.trees.k_best_file import is_bracketed, read_scored
from rerank_plugins.kit.trees.treebank_cleaning import remove_empty

if TYPE_CHECKING:
    from rerank_plugins.dependency.biaffine.parser_file import BiaffineModel

LONGEST = 300  # words; longer ones are not parsed: arcs grow with the square, and such "sentences" are none
EMBEDDED = embedded("parser.biaffine")


@dataclass(frozen=True)
class BiaffineParser(Parser, PickledFields):
    """Dependency trees by a model of the project's own parser (biaffine attention over a BiLSTM).

    Raises ModelError for a file that is missing, cut short, of another kind or version, or for another language.
    """

    file_kind: ClassVar[str] = "biaffine dependency parser"
    model: Path = option(doc="model of `rerank train dependency-parser`")
    language: str = option("", doc="code of the language, such as en: a model for another one is refused")
    constituents: bool = option(False, doc="also give constituents, made from the dependencies")

    @cached_property
    def _model(self) -> BiaffineModel:
        from rerank_plugins.dependency.biaffine.parser_file import read_model

        model = replace(shared_if_embedded(self.model, read_model))  # which remembers words of its own
        TrainedOn(model.language).check_language(self.language, self.model)
        return model

    @property
    def trained_on(self) -> TrainedOn:
        """The language of the model, and the labels of constituents."""
        return TrainedOn(self._model.language, labels="upos" if self.constituents else "")

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, and for more than 300 words."""
        from rerank_plugins.dependency.biaffine.parsing import parse_all

        fit = [i for i, sentence in enumerate(sentences) if 0 < len(sentence) <= LONGEST]
        parses = [Parse()] * len(sentences)
        for i, tree in zip(fit, parse_all(self._model, [sentences[i] for i in fit]), strict=True):
            parses[i] = Parse(tree, (ScoredTree(as_constituents(tree), 0.0),) if self.constituents else ())
        return parses


@dataclass(frozen=True)
class EnglishParser(Parser, PickledFields):
    """English dependency trees by the embedded model (Universal Dependencies; no download)."""

    resources: ClassVar[tuple[Path, ...]] = (EMBEDDED,)

    @cached_property
    def _parser(self) -> BiaffineParser:
        return BiaffineParser(EMBEDDED, "en")

    @property
    def trained_on(self) -> TrainedOn:
        """English."""
        return TrainedOn("en")

    @property
    def vocabulary(self) -> Words:
        """The words that the model has vectors of."""
        return self._parser._model

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; `Parse()` for an empty sentence, and for more than 300 words."""
        return self._parser.parse(sentences)


@dataclass(frozen=True)
class TreebankParser(Parser):
    """Looks parses up in files by the tokens of the sentence, with brackets in any spelling.

    A sentence that is not in the files has no parse. Each file may be CoNLL-U, plain bracketed trees, or k-best lists
    as `rerank trees parse --k-best` writes them. Plain trees are certain (ln p = 0), and empty elements are removed. If
    CoNLL-U or plain trees have several trees for the same words, the last one is used.
    """

    general: ClassVar[bool] = False

    path: Path = option(doc="file with a tree for each distinct hypothesis: CoNLL-U or bracketed trees")
    second: Path | None = option(None, doc="a second file, with the other kind of trees")

    @cached_property
    def _parses(self) -> dict[tuple[str, ...], Parse]:
        known: dict[tuple[str, ...], Parse] = {}
        for path in filter(None, (self.path, self.second)):
            try:
                with open(path, encoding="utf-8") as lines:
                    _add(known, lines, str(path))
            except UnicodeDecodeError as error:
                raise FormatError(f"not UTF-8 text (byte {error.start})", path=str(path)) from None
            except FileNotFoundError:
                raise FormatError("there is no such file of trees", path=str(path)) from None
        return known

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """The stored trees of each sentence, or `Parse()`."""
        parses = (self._parses.get(_key(sentence), Parse()) for sentence in sentences)
        return [over_tokens(parse, tuple(sentence)) for parse, sentence in zip(parses, sentences, strict=True)]


def _key(words: Sentence) -> tuple[str, ...]:
    """The words in normal form (core/brackets_and_quotes.py), the key of a parse."""
    return tuple(map(normal_form, words))


def _add(known: dict[tuple[str, ...], Parse], lines: Iterable[str], path: str) -> None:
    """Add the trees of a file to the known ones."""
    bracketed, whole = is_bracketed(lines)
    if not bracketed:
        for tree in read_conllu(whole, path):
            key = _key(tree.words)
            known[key] = Parse(tree, known.get(key, Parse()).constituents)
        return
    lists: dict[tuple[str, ...], tuple[str, list[ScoredTree]]] = {}
    for name, read, score in read_scored(whole, path):
        tree_read = remove_empty(read)
        if tree_read is None:
            continue
        words = _key(tree_read.words())
        if words not in lists or lists[words][0] != name:
            lists[words] = name, []
        lists[words][1].append(ScoredTree(tree_read, score))
    for words, (_, trees) in lists.items():
        best_first = tuple(sorted(trees, key=lambda scored: -scored.log_probability))
        known[words] = Parse(known.get(words, Parse()).dependencies, best_first)
