"""Refuses a text where a sentence, which is a sequence of words, is wanted: Python would take its letters for words.

The interfaces check the arguments of their public methods, those that a plugin defines too: a method whose first
argument is called `sentences`, `sentence`, `nbests` or `nbest`, and the methods of OF_INTERFACES whatever they call it.
A check looks at each sentence once, never at its words. Other classes with such methods have the decorator
`checks_sentences`.

An object may read texts as well: once `read_texts` has given it text steps, its methods split the texts that they get
in the place of `sentences`, and leave sequences of words as they are. One text gets its value, not a list of one.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any, TypeVar

from rerank_plugins.core.columns import TO_LISTS, plain
from rerank_plugins.core.nbest import NBestList

Class = TypeVar("Class", bound=type)
OF_INTERFACES = {
    **dict.fromkeys(("values", "word_values", "totals", "score", "unigram_scores", "parse"), "sentences"),
    **dict.fromkeys(("extract", "word_scores"), "nbest"),
    **dict.fromkeys(("extract_all", "check_lists"), "nbests"),
}
STEPS = "text_steps"  # the attribute of an object that reads texts
NO_SENTENCES = {type(None), bool, int, float, bytes}  # types of an item that is neither a text nor a sequence of words
SHOWN = 40  # characters of a wrong argument


def check_sentence(sentence: object) -> None:
    """Raise TypeError for a text: a sentence is a sequence of words."""
    if isinstance(sentence, str):
        raise TypeError(f"a sentence is a sequence of words, found the text {_shown(sentence)}: split it into words")


def check_sentences(sentences: object) -> None:
    """Raise TypeError for a text, or for a list or tuple of texts: each sentence is a sequence of words."""
    if isinstance(sentences, str):
        raise TypeError(f"wanted a list of sentences, each a sequence of words, found the text {_shown(sentences)}")
    if not isinstance(sentences, Iterable):
        raise TypeError(f"wanted a list of sentences, each a sequence of words, found {_shown(sentences)}")
    if isinstance(sentences, set | frozenset):
        plain(sentences)  # raises TypeError
    types = set(map(type, sentences)) if isinstance(sentences, list | tuple) else set()
    if wrong := types & NO_SENTENCES:
        number, found = next((i, each) for i, each in enumerate(sentences) if type(each) in wrong)
        raise TypeError(f"sentence {number}: wanted a text or its words, found {_shown(found)}")
    if str in types:
        text = next(sentence for sentence in sentences if isinstance(sentence, str))
        raise TypeError(
            f"a sentence is a sequence of words, found the text {_shown(text)}: wanted a list of sentences, such as "
            "[text.split() for text in texts]"
        )


def check_list(nbest: object) -> None:
    """Raise TypeError for what is no n-best list but a text, a list or a tuple."""
    if isinstance(nbest, str | list | tuple):
        raise TypeError(f"wanted an NBestList, found {_shown(nbest)}")


def check_lists(nbests: object) -> None:
    """Raise TypeError for a single n-best list, a text, or a list or tuple of other things than n-best lists."""
    if isinstance(nbests, NBestList | str):
        raise TypeError(f"wanted a sequence of n-best lists, found {_shown(nbests)}")
    if isinstance(nbests, list | tuple):
        for nbest in nbests:
            check_list(nbest)


def read_texts(plugin: object, steps: Callable[[Sequence[str]], list[str]]) -> None:
    """Let an object read texts: `steps` returns them as they are to be split at white space.

    Objects that cannot have a further attribute still read sequences of words alone.
    """
    with suppress(AttributeError, TypeError):
        object.__setattr__(plugin, STEPS, steps)


def split_texts(
    sentences: Sequence[str | Sequence[str]], steps: Callable[[Sequence[str]], list[str]]
) -> list[Sequence[str]]:
    """Sentences as sequences of words: texts are split after the steps, sequences of words are taken as they are.

    >>> split_texts(["It rains .", ("It", "rains")], list)
    [['It', 'rains', '.'], ('It', 'rains')]
    """
    texts = [sentence for sentence in sentences if isinstance(sentence, str)]
    words = iter(text.split() for text in steps(texts))
    return [next(words) if isinstance(sentence, str) else sentence for sentence in sentences]


def _shown(value: object) -> str:
    if isinstance(value, NBestList):
        return f"one of segment {value.segment_id}" if value.segment_id else "a single one"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


CHECKS: dict[str, Callable[[object], None]] = {
    "sentences": check_sentences,
    "sentence": check_sentence,
    "nbests": check_lists,
    "nbest": check_list,
}


def checks_sentences(cls: Class) -> Class:
    """Let the public methods of a class check their first argument; what a base class checks is left as it is."""
    for name, method in list(vars(cls).items()):
        if not name.startswith("_") and inspect.isfunction(method) and not hasattr(method, "checks"):
            code = inspect.unwrap(method).__code__
            first = code.co_varnames[1:2] if code.co_argcount > 1 else ()
            argument = first[0] if first else ""
            kind = argument if argument in CHECKS else _kind_of_interface(cls, name)
            if argument and kind:
                setattr(cls, name, _checking(method, argument, CHECKS[kind]))
    return cls


def _has_text(sentences: Any) -> bool:
    """Whether what was found is a text, or has items that are all texts or sequences of words."""
    types = set(map(type, sentences)) if isinstance(sentences, list | tuple) else set()
    return isinstance(sentences, str) or (bool(types) and not types & NO_SENTENCES)


def _as_list(sentences: Any) -> Any:
    """A column of texts as a list, and an iterator whose first item is a text; anything else as it is.

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


def _kind_of_interface(cls: type, name: str) -> str | None:
    return OF_INTERFACES.get(name) if issubclass(cls, ChecksSentences) else None


def _checking(method: Callable[..., Any], argument: str, check: Callable[[object], None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def checking(self: Any, *values: Any, **named: Any) -> Any:
        given: Any = values[0] if values else named.get(argument)
        found = _as_list(given) if check is check_sentences and type(given) not in (list, tuple) else given
        if found is not given:
            values, named = ((found, *values[1:]), named) if values else ((), {**named, argument: found})
        try:
            check(found)
        except TypeError:
            steps = getattr(self, STEPS, None)
            if steps is None or check is not check_sentences or not _has_text(found):
                raise
            sentences = split_texts([found] if isinstance(found, str) else found, steps)
            results = method(self, sentences, *values[1:], **{k: v for k, v in named.items() if k != argument})
            return results[0] if isinstance(found, str) else results
        return method(self, *values, **named)

    checking.checks = check  # type: ignore[attr-defined]
    return checking


class ChecksSentences:
    """A base of interfaces, whose subclasses check the sentences and lists that their public methods get."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        checks_sentences(cls)
