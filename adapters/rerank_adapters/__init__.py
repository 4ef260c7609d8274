"""Formats, metrics, tuners, configuration and the command line around `rerank_plugins`.

The names of the Python API can be imported from here (see `api/`). They are loaded when they are first used, so
that the command line starts quickly.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rerank_adapters.api import (
        Evaluation,
        FeatureTable,
        Hypothesis,
        NBestList,
        Pipeline,
        Reranked,
        Reranker,
        Weights,
        evaluate,
        read_nbest,
    )
    from rerank_adapters.applications.acceptability.compare import compare
    from rerank_adapters.applications.acceptability.judged_suites import suites
    from rerank_adapters.applications.acceptability.sentence_classifier import SentenceClassifier
    from rerank_adapters.applications.completion.completed import complete
    from rerank_adapters.applications.language_models.word_measures import surprisal
    from rerank_adapters.applications.loading import load, load_all
    from rerank_adapters.applications.mbr import mbr
    from rerank_adapters.applications.missing_words.fill import fill
    from rerank_adapters.applications.missing_words.locate import locate
    from rerank_adapters.applications.parsing.trees import parse
    from rerank_adapters.applications.similarity.pair_scores import similarity
    from rerank_adapters.applications.substitutes import substitutes
    from rerank_adapters.applications.training.train import train

__all__ = [
    "Evaluation",
    "FeatureTable",
    "Hypothesis",
    "NBestList",
    "Pipeline",
    "Reranked",
    "Reranker",
    "SentenceClassifier",
    "Weights",
    "compare",
    "complete",
    "evaluate",
    "fill",
    "load",
    "load_all",
    "locate",
    "mbr",
    "parse",
    "read_nbest",
    "similarity",
    "substitutes",
    "suites",
    "surprisal",
    "train",
]
_MODULES = {
    "SentenceClassifier": "applications.acceptability.sentence_classifier",
    "compare": "applications.acceptability.compare",
    "complete": "applications.completion.completed",
    "fill": "applications.missing_words.fill",
    "load": "applications.loading",
    "load_all": "applications.loading",
    "locate": "applications.missing_words.locate",
    "mbr": "applications.mbr",
    "parse": "applications.parsing.trees",
    "similarity": "applications.similarity.pair_scores",
    "substitutes": "applications.substitutes",
    "suites": "applications.acceptability.judged_suites",
    "surprisal": "applications.language_models.word_measures",
    "train": "applications.training.train",
}  # of names that `api` has not


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_similar(name)}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def _similar(name: str) -> str:
    from difflib import get_close_matches

    return "".join(f"; did you mean {similar!r}?" for similar in get_close_matches(name, __all__, 1))
