"""Puts a parser behind caches, and finds the parser that made the trees of a model.

A model file records its parser as the table by which a config names it, `{"use": "biaffine", "model": …}`. A file
among the options is recorded by its path, relative to the folder of the model file, and by the hash of its content.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.contracts import checked_parses
from rerank_plugins.core.errors import DAMAGE, ModelError, PluginError
from rerank_plugins.core.identity import identity, path_hash
from rerank_plugins.core.interfaces import Parser, Sentence
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.scored_trees import KBestTrees
from rerank_plugins.core.trained_on import UNDETERMINED, TrainedOn
from rerank_plugins.kit.cache import Kind, user_cache
from rerank_plugins.kit.files.in_use import shared
from rerank_plugins.kit.files.languages import ENGLISH, models_of
from rerank_plugins.kit.files.model_file import model_kind, read_trained_on
from rerank_plugins.kit.files.packed_parses import load_parses, save_parses
from rerank_plugins.kit.remembered import MEGABYTE, Remembered, size_of

REMEMBERED_BYTES = 64 * MEGABYTE  # of trees kept in memory
TREES_AS_OBJECTS = 2_000  # bytes of a constituency tree that is no array
SENTENCES_OF_BATCH = 2_000  # sentences parsed before they are saved: an interrupted run loses at most these

logger = logging.getLogger(__name__)
ADVICE = "name the parser of the hypotheses with the option 'parser'"


def parser_identity(parser: Parser) -> str | None:
    """All that the parser's trees depend on; parsers of the same identity share their parses.

    It is None for a parser that is no dataclass, or has an option that cannot be pickled. Raises ModelError where the
    parser's property `resources` does.
    """
    if not is_dataclass(parser):
        return None
    try:
        return identity(parser)
    except PluginError:
        return None


@dataclass
class CachedParser(Parser):
    """Looks parses up in memory, then on disk, and parses only the other sentences.

    `parsed` counts the sentences passed to the wrapped parser, `unparsed` the distinct sentences that have words but no
    tree, which are reported in the log.
    """

    parser: Parser

    def __post_init__(self) -> None:
        self._known: Remembered[tuple[str, ...], Parse] = Remembered(REMEMBERED_BYTES)
        self.parsed = self.unparsed = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"parser": self.parser}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    @property
    def trained_on(self) -> TrainedOn:
        """The training data of the wrapped parser."""
        return self.parser.trained_on

    @property
    def vocabulary(self) -> Words | None:
        """The words that the wrapped parser knows."""
        return self.parser.vocabulary

    @cached_property
    def _kind(self) -> Kind | None:
        """The kind of its parses in the cache; None for a parser whose parses may not be kept."""
        own = parser_identity(self.parser)
        return None if own is None else Kind.of("sentences", self.parser, own)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """One parse per sentence; each new sentence is passed to the wrapped parser once."""
        known, new = self.known(sentences)
        for start in range(0, len(new), SENTENCES_OF_BATCH):
            batch = new[start : start + SENTENCES_OF_BATCH]
            parses = checked_parses(self.parser, batch)
            self.keep(batch, parses)
            known.update(zip(batch, parses, strict=True))
        return [known[tuple(sentence)] for sentence in sentences]

    def known(self, sentences: Sequence[Sentence]) -> tuple[dict[tuple[str, ...], Parse], list[tuple[str, ...]]]:
        """The parses of those sentences that are in memory or on disk, and the other sentences, each once."""
        self._known.make_room()
        keys = list(dict.fromkeys(map(tuple, sentences)))
        new = [key for key in keys if key not in self._known]
        if new and self._kind and (cache := user_cache()):
            loaded = load_parses(cache, self._kind, new)
            self._remember([(key, parse) for key, parse in zip(new, loaded, strict=True) if parse is not None])
            new = [key for key in new if key not in self._known]
        return {key: self._known[key] for key in keys if key in self._known}, new

    def keep(self, sentences: Sequence[tuple[str, ...]], parses: Sequence[Parse]) -> None:
        """Keep the parses that the wrapped parser has made of distinct sentences, here or on another machine."""
        pairs = list(zip(sentences, parses, strict=True))
        self.parsed += len(pairs)
        if self._kind and (cache := user_cache()):
            own = [(words, parse) for words, parse in pairs if _has_own_words(words, parse)]
            save_parses(cache, self._kind, own)
        self._remember(pairs)

    def _remember(self, parses: Sequence[tuple[tuple[str, ...], Parse]]) -> None:
        for words, parse in parses:
            self._known.keep(words, parse, _size(words, parse))
        unparsed = [words for words, parse in parses if words and parse.is_empty]
        if unparsed:
            self.unparsed += len(unparsed)
            text = " ".join(unparsed[0])
            text = text if len(text) <= 60 else text[:57] + "..."
            logger.warning("%d sentences have no parse, %d in all (first: %r)", len(unparsed), self.unparsed, text)


def _size(words: tuple[str, ...], parse: Parse) -> int:
    """The bytes of a parse, beside its words: an estimate from the parses of 4,000 sentences."""
    trees = parse.constituents
    if not isinstance(trees, KBestTrees):
        return 100 * len(words) + TREES_AS_OBJECTS * len(trees)
    arrays = (trees.trees.label, trees.trees.bounds, trees.trees.children, trees.trees.roots)
    return 100 * len(words) + 4 * sum(map(size_of, arrays))


def _has_own_words(words: tuple[str, ...], parse: Parse) -> bool:
    """Whether the trees have the tokens as words, as the cache on disk requires; tokens word/TAG are different."""
    constituents = parse.constituents
    own = constituents.trees.words if isinstance(constituents, KBestTrees) else None
    return not constituents or words == (own or constituents[0].tree.words())


def record_parser(use: str, parser: Parser, folder: Path) -> dict[str, Any]:
    """The table of a parser registered as `use`, for a model file in `folder`; options at their defaults are left out.

    It is empty for a parser that has trees for some sentences alone, and for one that is no dataclass.
    """
    if not parser.general or not is_dataclass(parser):
        return {}
    options = {f.name: (getattr(parser, f.name), f.default) for f in fields(parser) if f.init}
    chosen = {name: value for name, (value, default) in options.items() if value != default}
    return {"use": use} | {
        name: {"path": os.path.relpath(value, folder), "hash": path_hash(value)} if isinstance(value, Path) else value
        for name, value in chosen.items()
    }


def recorded_parser(model: Path) -> dict[str, Any]:
    """The table of the parser of a model file's trees, with its files where they are now; empty if none is recorded.

    A file is looked for where it was, seen from the model file, and beside the model file, there under any name.
    Raises ModelError if no file in these places has its content.
    """
    recorded = read_trained_on(model).parser
    try:
        return {
            name: str(_find(model, value, recorded["use"])) if isinstance(value, Mapping) else value
            for name, value in recorded.items()
        }
    except DAMAGE as error:
        raise ModelError(f"{model}: damaged record of its parser ({type(error).__name__}: {error})") from None


def usual_parser(model: Path, language: str) -> dict[str, Any]:
    """The table of the parser of a model of trees where none is named; empty without one.

    It is the parser that the model file records, or else that of the language, but not of English: trees that were made
    from dependencies are those of `biaffine`, others those of `pcfg`.
    """
    if recorded := recorded_parser(model):
        return recorded
    if language in ("", ENGLISH):
        return {}
    of_words = model_kind(model) == "dependency"
    use = "biaffine" if of_words or read_trained_on(model).labels else "pcfg"
    if use not in models_of(language):
        return {}
    return {"use": use} if of_words or use == "pcfg" else {"use": use, "constituents": True}


def _find(model: Path, file: Mapping[str, Any], use: str) -> Path:
    paths = file["path"], Path(file["path"]).name
    places = [Path(os.path.abspath(model.parent / path)) for path in dict.fromkeys(paths)]  # for configs elsewhere
    present = [place for place in places if place.exists()]
    beside = sorted(place for place in model.absolute().parent.iterdir() if place.is_file())
    for place in dict.fromkeys((*present, *beside)):
        if path_hash(place) == file["hash"]:
            return place
    problem = f"{present[0]} is another file now" if present else f"there is no {' and no '.join(map(str, places))}"
    raise ModelError(f"{model}: its trees were parsed by {use!r} with a file of its own, but {problem}: {ADVICE}")


def shared_parser(parser: Parser) -> CachedParser:
    """The parser behind a cache, which is the one that is in use in this process if there is one of equal trees.

    Plugins whose parsers are chosen by default thus parse each sentence once.
    """
    key = parser_identity(parser)
    return CachedParser(parser) if key is None else shared(("parser", key), lambda: CachedParser(parser))


def parser_of_model(model: Path | None, parser: Parser | None, default: Parser, *, constituents: bool = True) -> Parser:
    """The parser for a model file, or for an embedded English model if that is None; `default` if `parser` is None.

    Raises ModelError for a parser of another language than the model's, also if it is the default, and for one whose
    constituents have labels of another kind, unless the model reads no constituents.
    """
    trained_on = read_trained_on(model) if model else TrainedOn("en")
    chosen, whose = (parser, "the parser") if parser else (shared_parser(default), "the default parser")
    if parser is None and trained_on.language == UNDETERMINED:
        raise ModelError(f"{model}: trained on text of no known language: {ADVICE}, or train it with --language")
    if trained_on.differs(chosen.trained_on):
        languages = f"{trained_on.language!r}, and {whose} reads {chosen.trained_on.language!r}"
        raise ModelError(f"{model or 'the embedded model'}: trained on {languages}: {ADVICE}")
    if constituents and trained_on.has_other_labels(chosen.trained_on):
        labels = f"{trained_on.described_labels}, those of {whose} {chosen.trained_on.described_labels}"
        raise ModelError(f"{model or 'the embedded model'}: its trees have {labels}: {ADVICE}")
    return chosen
