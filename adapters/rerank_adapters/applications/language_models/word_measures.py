"""`surprisal`: how surprising each word of a text is to language models, and how hard it is to process.

The measures are those of Hale (2001) and Wu et al. (2010), which rerank_plugins/hhmm/language_model.py defines. Every
language model of words gives surprisals, in bits; `hhmm-lm` gives the other measures too.

The words of a caller need not be the tokens of a model: readers look at `don't`, and models at `do n't`. The word of a
caller then has the sum of the surprisals of its tokens, since -log2 p(t_1 … t_n | …) is the sum of -log2 p(t_i | …).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rerank_adapters.applications.language_models.token_spans import spans_of
from rerank_adapters.data.given_texts import Text, Words, blocks_of, pipeline_of, texts_of
from rerank_adapters.features.unknown_words import warn_if_foreign
from rerank_adapters.job.models import load_all
from rerank_adapters.rows import Rows
from rerank_adapters.text import TextPipeline
from rerank_plugins import ConfigError, LanguageModel
from rerank_plugins.core.errors import suggestion
from rerank_plugins.hhmm.language_model import Complexity, EntropyKind, complexity
from rerank_plugins.kit.language_models import with_words

SENTENCES_OF_BLOCK = 8  # sentences measured at a time: few, so that progress shows with a slow model too
COLUMNS = ("surprisal", "entropy", "entropy_reduction", "depth", "depth_difference", "lost", "known")
END = "</s>"


class Measured(NamedTuple):
    """A sentence: its number (from 1), its words, their measures, and whether each word is known."""

    line: int
    words: Words
    measures: Complexity
    known: tuple[bool, ...]

    def rows(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Each word with its value in each of COLUMNS; `</s>` comes last and has no more than a surprisal.

        `known` is 1 for a word that the model knows, else 0; measures that the model does not define are nan.
        """
        m = self.measures
        columns = (m.surprisal[:-1], m.entropy[1:], m.reduction, m.depth[1:], m.difference, m.unparsed)
        for word, *values in zip(self.words, *(column.tolist() for column in columns), self.known, strict=True):
            yield word, dict(zip(COLUMNS, values, strict=True))
        yield END, {**dict.fromkeys(COLUMNS, math.nan), "surprisal": float(m.surprisal[-1]), "known": 1}


def surprisal(
    texts: Iterable[Text] | Path,
    models: Any = "hhmm-lm",
    *,
    words: Iterable[Sequence[str]] | None = None,
    measures: str | Sequence[str] = "surprisal",
    entropy: EntropyKind = "derivations",
    text: str | Sequence[str] = "penn-tokenize",
) -> Rows:
    """The surprisal of each word in bits, -log2 p(word | the words before it), a column for each model.

    The columns are `text` and `position`, which count from 1, `word`, one of the name of each model, and `known`:
    whether the model knows the word; of several models, each has `model.known`. Leave out unknown words in regressions:
    their surprisal is that of any word of the same form. The last row of a text is its end, `</s>`.

    `texts`     texts, which go through the text steps of `text`; sequences of words, which are taken as they are; or a
                Path: a file with one text per line
    `models`    language models of words, one or many: names ("hhmm-lm,beam=50"), files, objects, or a dict of these by
                the name that the column shall have
    `words`     for each text the words that the caller counts, `["don't", "go."]` for `do n't go .`: the rows are then
                of these words, whose surprisals are the sums over their tokens, and there are no rows of ends
    `measures`  which measures: surprisal, entropy, entropy_reduction, depth, depth_difference, lost. If there are
                several, the columns are called `model.measure`; nan where a model does not define a measure. Those of
                a caller's word are the sums over its tokens, or the values after its last token (entropy, depth)
    `entropy`   that of `derivations`, or of `stores` (hhmm-lm)

    Raises TypeError for a text in the place of several, ConfigError for a model that gives no probabilities to words,
    and where the words are not those of the texts.

    >>> surprisal(["The dog barks."], "unigram")
    text  position  word   unigram  known
       1         1  The    8.44542   True
       1         2  dog    13.4817   True
       1         3  barks  19.1256   True
       1         4  .      4.86384   True
       1         5  </s>   4.66437   True
    """
    names = _checked_measures([measures] if isinstance(measures, str) else measures)
    steps, checked = pipeline_of(text), texts_of(texts)
    loaded = load_all(models, "language_model")
    of_name = {name: with_words(model, f"language model {name}") for name, model in loaded.items()}
    columns = [name if len(names) == 1 else f"{name}.{measure}" for name in of_name for measure in names]
    measured = measured_by_all(of_name, checked, steps, entropy)
    rows = _token_rows(measured, names) if words is None else _word_rows(measured, texts_of(words, "words"), names)
    known = ["known"] if len(of_name) == 1 else [f"{name}.known" for name in of_name]
    return Rows(["text", "position", "word", *columns, *known], rows)


def measure(
    model: LanguageModel, texts: Iterable[Text], entropy: EntropyKind, text: TextPipeline
) -> Iterator[Measured]:
    """The measures of each text, in order and in bounded memory; an empty text consists of `</s>` alone."""
    return (measured for (measured,) in measured_by_all({"": model}, texts, text, entropy))


def measured_by_all(
    models: Mapping[str, LanguageModel], texts: Iterable[Text], text: TextPipeline, entropy: EntropyKind
) -> Iterator[tuple[Measured, ...]]:
    """The measures of each text by each model, in order and in bounded memory."""
    number = 0
    for sentences in blocks_of(texts, text, SENTENCES_OF_BLOCK):
        by_model = []
        for name, model in models.items():
            if not number:
                warn_if_foreign(model, [" ".join(words) for words in sentences], name)
            measures = complexity(model, sentences, entropy)
            by_model.append(
                [
                    Measured(line, words, values, tuple(word in model for word in words))
                    for line, (words, values) in enumerate(zip(sentences, measures, strict=True), number + 1)
                ]
            )
        yield from zip(*by_model, strict=True)
        number += len(sentences)


def _token_rows(measured: Iterable[tuple[Measured, ...]], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for by_model in measured:
        for position, of_word in enumerate(zip(*(each.rows() for each in by_model), strict=True), 1):
            values = [of_model[name] for _, of_model in of_word for name in names]
            known = [bool(of_model["known"]) for _, of_model in of_word]
            yield by_model[0].line, position, of_word[0][0], *values, *known


def _word_rows(
    measured: Iterable[tuple[Measured, ...]], words: Iterable[Sequence[str]], names: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """The rows of the caller's words. Raises ConfigError where they are not those of the texts."""
    source, missing = iter(words), object()
    number = 0
    for number, by_model in enumerate(measured, 1):
        own = next(source, missing)
        if own is missing:
            raise ConfigError(f"words: found those of {number - 1} texts, wanted those of each text")
        assert isinstance(own, Sequence)
        spans = spans_of(by_model[0].words, own, f"words[{number - 1}]")
        tokens = [[values for _, values in each.rows()] for each in by_model]
        for position, (word, (begin, end)) in enumerate(zip(own, spans, strict=True), 1):
            values = [_of_span(of_model[begin:end], name) for of_model in tokens for name in names]
            known = [all(token["known"] for token in of_model[begin:end]) for of_model in tokens]
            yield number, position, word, *values, *known
    if next(source, missing) is not missing:
        raise ConfigError(f"words: found those of more than {number} texts, wanted those of each text")


def _of_span(tokens: Sequence[Mapping[str, float]], name: str) -> float:
    """The value of a word of these tokens: the last one of a state, the sum of any other measure."""
    if name in ("entropy", "depth"):
        return tokens[-1][name]
    return sum(token[name] for token in tokens)


def _checked_measures(names: Sequence[str]) -> tuple[str, ...]:
    """The names of measures. Raises ConfigError for an unknown one, and for none."""
    known = COLUMNS[:-1]
    for name in names:
        if name not in known:
            raise ConfigError(f"measures: no measure is named {name!r}{suggestion(name, known)}")
    if not names:
        raise ConfigError(f"measures: wanted one or more of: {', '.join(known)}")
    return tuple(dict.fromkeys(names))
