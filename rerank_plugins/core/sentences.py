"""Refuses a text where a sentence, which is a sequence of words, is wanted: Python would take its letters for words.

Methods of the interfaces that take sentences check them, also where a plugin implements them (CHECKED). A check looks
at each sentence once, never at its words. N-best lists are checked where they enter the program (`check_lists`).

An object may read texts as well: once `read_texts` has given it text steps, these methods split the texts that they get
in the place of sentences, and leave sequences of words as they are. One text gets its value, not a list of one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from rerank_plugins.core.columns import TO_LISTS, one_line, plain
from rerank_plugins.core.nbest import NBestList
from rerank_plugins.core.words import model_words

STEPS = "text_steps"  # the attribute of an object that reads texts
NO_SENTENCES = {type(None), bool, int, float, bytes}  # types of an item that is neither a text nor a sequence of words


def check_sentence(sentence: object) -> None:
    """Raise TypeError for a text: a sentence is a sequence of words."""
    if isinstance(sentence, str):
        raise TypeError(f"a sentence is a sequence of words, found the text {one_line(sentence)}: split it into words")


def check_sentences(sentences: object) -> None:
    """Raise TypeError for a text, or for a list or tuple of texts: each sentence is a sequence of words."""
    wanted = "wanted a list of sentences, each a sequence of words"
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        what = "the text " if isinstance(sentences, str) else ""
        raise TypeError(f"{wanted}, found {what}{one_line(sentences)}")
    if isinstance(sentences, set | frozenset):
        plain(sentences)  # raises TypeError
    types = set(map(type, sentences)) if isinstance(sentences, list | tuple) else set()
    if wrong := types & NO_SENTENCES:
        number, found = next((i, each) for i, each in enumerate(sentences) if type(each) in wrong)
        raise TypeError(f"sentence {number}: wanted a text or its words, found {one_line(found)}")
    if str in types:
        text = next(sentence for sentence in sentences if isinstance(sentence, str))
        raise TypeError(
            f"a sentence is a sequence of words, found the text {one_line(text)}: wanted a list of sentences, such as "
            "[text.split() for text in texts]"
        )


def check_lists(nbests: object) -> None:
    """Raise TypeError for a single n-best list, a text, or a list or tuple of other things than n-best lists."""
    if isinstance(nbests, NBestList):
        name = f"one of segment {nbests.segment_id}" if nbests.segment_id else "a single one"
        raise TypeError(f"wanted a sequence of n-best lists, found {name}")
    if isinstance(nbests, str):
        raise TypeError(f"wanted a sequence of n-best lists, found {one_line(nbests)}")
    if isinstance(nbests, list | tuple):
        for nbest in nbests:
            if isinstance(nbest, str | list | tuple):
                raise TypeError(f"wanted an NBestList, found {one_line(nbest)}")


CHECKED = ("values", "word_values", "totals", "score", "unigram_scores", "parse")  # methods of the interfaces


class ChecksSentences:
    """A base of interfaces, whose methods check the sentences that they get, also in subclasses."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        for name in CHECKED:
            method = vars(cls).get(name)
            if inspect.isfunction(method) and not hasattr(method, "checks_sentences"):
                setattr(cls, name, _checking(method))


def read_texts(plugin: object, steps: Callable[[Sequence[str]], list[str]]) -> None:
    """Let an object read texts: `steps` returns them as they are to be split at white space.

    Objects that cannot have a further attribute still read sequences of words alone.
    """
    with suppress(AttributeError, TypeError):
        object.__setattr__(plugin, STEPS, steps)


def _checking(method: Callable[..., Any]) -> Callable[..., Any]:
    argument = inspect.unwrap(method).__code__.co_varnames[1]

    @functools.wraps(method)
    def checking(self: Any, *values: Any, **named: Any) -> Any:
        given = values[0] if values else named.pop(argument, None)
        found = given if type(given) in (list, tuple) else _as_list(given)
        try:
            check_sentences(found)
        except TypeError:
            steps = getattr(self, STEPS, None)
            if steps is None or not _has_text(found):
                raise
            results = method(self, _split([found] if isinstance(found, str) else found, steps), *values[1:], **named)
            return results[0] if isinstance(found, str) else results
        return method(self, found, *values[1:], **named)

    checking.checks_sentences = True  # type: ignore[attr-defined]
    return checking


def _has_text(sentences: Any) -> bool:
    """Whether what was found is a text, or has items that are all texts or sequences of words."""
    types = set(map(type, sentences)) if isinstance(sentences, list | tuple) else set()
    return isinstance(sentences, str) or (bool(types) and not types & NO_SENTENCES)


def _split(
    sentences: Sequence[str | Sequence[str]], steps: Callable[[Sequence[str]], list[str]]
) -> list[Sequence[str]]:
    """Sentences as sequences of words: texts are split after the steps, sequences of words are taken as they are.

    >>> _split(["It rains .", ("It", "rains")], list)
    [['It', 'rains', '.'], ('It', 'rains')]
    """
    texts = [sentence for sentence in sentences if isinstance(sentence, str)]
    words = iter(model_words(text) for text in steps(texts))
    return [next(words) if isinstance(sentence, str) else sentence for sentence in sentences]


def _as_list(sentences: Any) -> Any:
    """A column of texts as a list, and an iterator whose first item is a text; anything else unchanged.

    So a column is not taken for sentences whose words are the letters of its texts. Raises TypeError for a mapping and
    for a data frame, of which Python would read the names.
    """
    if isinstance(sentences, Mapping) or hasattr(sentences, "columns"):
        what = "a mapping" if isinstance(sentences, Mapping) else "a data frame: give a column, as frame['text']"
        raise TypeError(f"wanted a list of sentences, each a sequence of words, found {what}")
    if isinstance(sentences, Iterator):
        first = list(islice(sentences, 1))
        rest = chain(first, sentences)
        return list(rest) if first and isinstance(first[0], str) else rest
    if any(hasattr(sentences, name) for name in TO_LISTS) and hasattr(sentences, "__len__") and len(sentences):
        item = next(iter(sentences))
        return plain(sentences) if isinstance(item, str) or hasattr(item, "as_py") else sentences
    return sentences
