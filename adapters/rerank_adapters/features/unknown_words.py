"""Warns of texts with words that a model does not know: the texts may be in another language or another style.

Every command that scores or parses texts, or extracts features of them, asks here; a line names all models for which
the same text steps would help. `check` names smaller proportions of
unknown words too, if text steps would lower them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rerank_adapters.features.feature import Feature
from rerank_adapters.text import HIGH_OOV_RATE, UnknownWords, by_remedy, unknown_words
from rerank_plugins import NBestList, Parser, SentenceModel
from rerank_plugins.core.brackets_and_quotes import Words
from rerank_plugins.core.words import split_words
from rerank_plugins.kit.files.languages import ENGLISH

MIN_FOREIGN_RATE = 0.3  # proportion of unknown words of a text that is in another language
MIN_WORDS = 10  # words by which that is told
SAMPLE_LISTS = 1000  # lists that are looked at

logger = logging.getLogger(__name__)


def warn_if_foreign(model: SentenceModel, texts: Sequence[str], name: str = "") -> None:
    """Warn of texts of which the language model, which the message calls by its name, does not know many words."""
    named = f"the language model {name!r}" if name else "the language model"
    _log(_unknown(model, texts, named, language_of_model(model), MIN_FOREIGN_RATE))


def warn_if_unparsable(parser: Parser, texts: Sequence[str]) -> None:
    """Warn of texts with many words that the parser does not know."""
    if parser.vocabulary is not None:
        _log(_unknown(parser.vocabulary, texts, "the parser", "", HIGH_OOV_RATE))


def warn_of_lists(features: Iterable[Feature], lists: Sequence[NBestList], warned: set[str]) -> None:
    """Warn of lists of which the models or parsers of these features do not know many words.

    Their models are loaded, where they are not yet. `warned` has the models that were named before, of other lists for
    instance, which are not named again; it gets those that are named now.
    """
    texts = [nbest[0].text for nbest in lists[:SAMPLE_LISTS] if len(nbest)]
    found = [one for feature in features for one in of_feature(feature, texts, MIN_FOREIGN_RATE, MIN_FOREIGN_RATE)]
    _log(one for one in found if one.model not in warned)
    warned.update(one.model for one in found)


def of_feature(
    feature: Feature, texts: Sequence[str], of_model: float = 0.0, of_parser: float = HIGH_OOV_RATE
) -> Iterator[UnknownWords]:
    """The words of texts that the model of a feature and its parsers do not know, from these proportions on."""
    label, extractor, texts = feature.label, feature.extractor, feature.text.apply(texts)
    if extractor.vocabulary is not None:
        model = extractor.vocabulary if isinstance(extractor.vocabulary, SentenceModel) else extractor
        yield from _unknown(extractor.vocabulary, texts, f"the model of {label!r}", language_of_model(model), of_model)
    for parser in extractor.parsers:
        if parser.vocabulary is not None:
            language = parser.trained_on.language
            yield from _unknown(parser.vocabulary, texts, f"the parser of {label!r}", language, of_parser)


def language_of_model(model: object) -> str:
    """The language that is recorded in the file of the option `model`, English if it has none; "" where none is."""
    path = getattr(model, "model", None)
    if path is None:
        return ENGLISH if hasattr(model, "model") else ""
    if not isinstance(path, Path):  # a model object, which has no file of its own
        return ""
    from rerank_plugins.kit.files.model_file import model_kind, read_trained_on
    from rerank_plugins.ngram.arpa_files import is_kenlm_binary

    known = not is_kenlm_binary(path) and model_kind(path) is not None and (found := read_trained_on(path)).known
    return found.language if known else ""


def _unknown(vocabulary: Words, texts: Sequence[str], name: str, language: str, least: float) -> Iterator[UnknownWords]:
    if least >= MIN_FOREIGN_RATE and sum(len(split_words(text)) for text in texts) < MIN_WORDS:
        return
    trained = f"{name}, which was trained on {language!r}" if language else name
    if (found := unknown_words(vocabulary.__contains__, texts, trained, least)) is not None:
        yield found


def _log(found: Iterable[UnknownWords]) -> None:
    for _, line in by_remedy(("", one) for one in found):
        logger.warning("%s", line)
