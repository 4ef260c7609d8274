"""Texts and pairs of texts as they are given to a function: a str goes through the text steps, words are taken as is.

A function checks its arguments before it does anything else, so that a text in the place of several is an error at
once, and not a loop over its characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from rerank_adapters.data.minimal_pairs import Pair
from rerank_adapters.formats.frames import is_frame
from rerank_adapters.text import TextPipeline, split_steps
from rerank_plugins import open_text
from rerank_plugins.core.columns import one_line, plain
from rerank_plugins.core.words import model_words, split_words

Text: TypeAlias = str | Sequence[str]  # a text, or its words
Words: TypeAlias = tuple[str, ...]


def pipeline_of(steps: str | Sequence[str] | TextPipeline) -> TextPipeline:
    """The text steps of an argument `text`: "penn-tokenize", "lowercase+no-punctuation", "none" or a list of steps.

    Raises ConfigError for an unknown step.
    """
    return steps if isinstance(steps, TextPipeline) else TextPipeline(split_steps(steps))


def texts_of(texts: Iterable[Text] | Path, name: str = "texts") -> Iterable[Text]:
    """The same texts; of a path, the lines of that file, which is read as they are needed.

    Raises TypeError for a single text, which would be read as as many texts as it has characters.
    """
    if isinstance(texts, Path):
        return _lines(texts)
    if is_frame(texts) or isinstance(texts, Mapping):
        found = "a mapping" if isinstance(texts, Mapping) else "a data frame: give a column, as frame['text']"
        raise TypeError(f"{name}: wanted a sequence of texts, found {found}")
    texts = plain(texts)
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        found = f"the text {texts!r:.60}" if isinstance(texts, str) else f"{texts!r:.60}"
        raise TypeError(f"{name}: wanted a sequence of texts, found {found}; give one text as [text]")
    return texts


def _lines(path: Path) -> Iterator[str]:
    with open_text(path) as lines:
        yield from lines


def pairs_of(pairs: Iterable[tuple[Text, Text] | Pair], name: str = "pairs") -> list[tuple[Text, Text]]:
    """The pairs of texts as a list. Raises TypeError for a value that is no pair, with its number from 0."""
    if is_frame(pairs):
        raise TypeError(f"{name}: wanted pairs of texts, found a data frame: give zip(frame['first'], frame['second'])")
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise TypeError(f"{name}: wanted a sequence of pairs of texts, found {one_line(pairs)}")
    found: list[tuple[Text, Text]] = []
    for number, pair in enumerate(plain(pairs)):
        if isinstance(pair, Pair):
            found.append((pair.good, pair.bad))
            continue
        pair = plain(pair)
        parts: tuple[Any, ...] = () if isinstance(pair, str | bytes) or not isinstance(pair, Iterable) else tuple(pair)
        parts = tuple(part.as_py() if hasattr(part, "as_py") else part for part in parts)  # of Arrow's columns
        if len(parts) != 2:
            raise TypeError(f"{name}[{number}]: wanted a pair of texts, found {pair!r:.60}")
        found.append((parts[0], parts[1]))
    return found


def words_of(texts: Sequence[Text], text: TextPipeline, name: str = "texts", first: int = 0) -> list[Words]:
    """The words of each text: a str goes through the text steps, and words are taken as they are.

    `first` is the number of the first text in errors. Raises TypeError for a text that is neither, and for a word with
    white space or without characters, which no file of texts could hold.
    """
    written = [each for each in texts if isinstance(each, str)]
    processed = iter(text.apply([each.rstrip("\r\n") for each in written]))
    words = []
    for number, each in enumerate(texts, first):
        if isinstance(each, str):
            words.append(tuple(model_words(next(processed))))
            continue
        if not isinstance(each, Iterable) or isinstance(each, bytes):
            raise TypeError(f"{name}[{number}]: wanted a text or its words, found {each!r:.60}")
        given = tuple(plain(each))
        for word in given:
            if not isinstance(word, str) or split_words(word) != [word]:
                raise TypeError(f"{name}[{number}]: wanted words without white space, found {word!r:.60}")
        words.append(given)
    return words


def blocks_of(texts: Iterable[Text], text: TextPipeline, size: int, name: str = "texts") -> Iterator[list[Words]]:
    """The words of all texts, in blocks of `size` texts: the texts are read as they are needed."""
    source, first = iter(texts), 0
    while block := list(islice(source, size)):
        yield words_of(block, text, name, first)
        first += len(block)


def shown(text: Text) -> str:
    """A text as it was given; words are joined by spaces."""
    return text if isinstance(text, str) else " ".join(text)
