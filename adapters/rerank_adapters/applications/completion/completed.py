"""`complete`: which option fills the blank of a text best, by language models and other features.

A text and its options are a question of `rerank words complete`. Each column answers by itself, with the option
of the highest value; of options with equal values the first is chosen, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from rerank_adapters.applications.acceptability.text_features import judging_columns
from rerank_adapters.applications.completion.questions import BLANK
from rerank_adapters.data.given_texts import Text, pipeline_of, texts_of, words_of
from rerank_adapters.job.models import load_all
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_adapters.tuners.within_lists import one_best
from rerank_plugins import ConfigError, FeatureTable, Hypothesis, NBestList
from rerank_plugins.core.columns import plain


class Completed(Rows):
    """The rows of `complete`, with the answers of each system."""

    def __init__(self, options: Sequence[Sequence[str]], table: FeatureTable) -> None:
        systems = {
            name: one_best(table.values[:, column], table.offsets).tolist() for column, name in enumerate(table.names)
        }
        names = [part for name in systems for part in (name, f"{name}.best")]
        rows = []
        for number, (begin, end) in enumerate(pairwise(table.offsets.tolist())):
            for row, option in zip(range(begin, end), options[number], strict=True):
                values = zip(table.values[row].tolist(), systems.values(), strict=True)
                rows.append((number + 1, option, *(x for value, best in values for x in (value, row == best[number]))))
        super().__init__(["text", "option", *names], rows)
        chosen = (
            (number + 1, *(of_text[best[number] - begin] for best in systems.values()))
            for number, (of_text, begin) in enumerate(zip(options, table.offsets.tolist(), strict=False))
        )
        self.answers = Rows(["text", *systems], chosen)


def complete(
    texts: Iterable[Text],
    options: Sequence[str] | Sequence[Sequence[str]],
    models: Any = "ngram-lm",
    *,
    columns: str | Sequence[str] | None = None,
    text: str | Sequence[str] = "penn-tokenize",
    jobs: int = 2,
) -> Completed:
    """The value of each option in the blank of each text, and which option is the best.

    The columns are `text`, which counts from 1, and `option`; then for each model its name, the value of the completed
    text (ln p for a language model), and `name.best`, whether the option is the answer. `.answers` are rows with the
    answer of each model to each text.

    `texts`    texts, or sequences of words, with one blank of three or more underscores (____)
    `options`  the options to fill it: words for all texts, or a sequence of words for each text
    `models`   language models or other features, one or many, as for `compare`, with the same `columns`
    `text`     the text steps of completed texts; sequences of words are taken as they are
    `jobs`     the number of processes

    Raises TypeError for a text in the place of several, ConfigError for a text without a blank or with several, and for
    options of another number of texts.

    >>> rows = complete(["the ____ barks"], ["dog", "zygote"], "unigram")
    >>> rows
    text  option   unigram  unigram.best
       1  dog     -25.8565          True
       1  zygote  -33.4629         False
    >>> rows.answers["unigram"]
    ['dog']
    """
    extractors, steps = load_all(models, "feature"), pipeline_of(text)
    given = list(texts_of(texts))
    of_texts = _of_texts(options, given)
    nbests = [
        NBestList(str(number), tuple(map(Hypothesis, _completions(each, words, steps, f"texts[{number}]"))))
        for number, (each, words) in enumerate(zip(given, of_texts, strict=True))
    ]
    return Completed(of_texts, judging_columns(extractors, nbests, columns, jobs))


def _of_texts(options: Sequence[str] | Sequence[Sequence[str]], texts: Sequence[Text]) -> list[list[str]]:
    """The options of each text. Raises TypeError for options that are no words, ConfigError for another number."""
    options = plain(options)
    if isinstance(options, str) or not isinstance(options, Iterable):
        raise TypeError(f"options: wanted a sequence of words, found {options!r:.60}")
    listed = list(map(plain, options))
    if all(isinstance(option, str) for option in listed):
        of_texts = [[str(option) for option in listed] for _ in texts]
    else:
        of_texts = []
        for number, words in enumerate(listed):
            if isinstance(words, str) or not all(isinstance(word, str) for word in words):
                raise TypeError(f"options[{number}]: wanted a sequence of words, found {words!r:.60}")
            of_texts.append(list(words))
        if len(of_texts) != len(texts):
            raise ConfigError(f"options: found those of {len(of_texts)} texts, wanted those of {len(texts)}")
    for number, words in enumerate(of_texts):
        if not words:
            raise ConfigError(f"options[{number}]: wanted one word or more, found none")
    return of_texts


def _completions(text: Text, options: Sequence[str], steps: TextPipeline, name: str) -> list[str]:
    """The text with each option in its blank, after the text steps."""
    if isinstance(text, str):
        parts = BLANK.split(text)
        _check_blanks(len(parts) - 1, name)
        return [" ".join(words) for words in words_of([parts[0] + option + parts[1] for option in options], steps)]
    (words,) = words_of([text], steps, name)
    places = [place for place, word in enumerate(words) if BLANK.fullmatch(word)]
    _check_blanks(len(places), name)
    return [" ".join((*words[: places[0]], option, *words[places[0] + 1 :])) for option in options]


def _check_blanks(number: int, name: str) -> None:
    if number != 1:
        raise ConfigError(f"{name}: found {number} blanks, wanted one (____)")
