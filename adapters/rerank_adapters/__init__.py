"""Formats, metrics, tuners, configuration and the command line around `rerank_plugins`.

The functions of the Python API can be imported from here (see `api.py`). They are loaded when they are first used, so
that the command line starts quickly.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rerank_adapters.api import Reranker, evaluate, extract_features, read_nbest, rerank, tune
    from rerank_adapters.applications.acceptability.compare import compare
    from rerank_adapters.applications.language_models.word_measures import surprisal
    from rerank_adapters.applications.parsing.trees import parse
    from rerank_adapters.applications.similarity.pair_scores import similarity
    from rerank_adapters.chain.loading import load, load_all
    from rerank_adapters.chain.training.from_python import train

__all__ = [
    "Reranker",
    "compare",
    "evaluate",
    "extract_features",
    "load",
    "load_all",
    "parse",
    "read_nbest",
    "rerank",
    "similarity",
    "surprisal",
    "train",
    "tune",
]
_MODULES = {
    "compare": "applications.acceptability.compare",
    "load": "chain.loading",
    "load_all": "chain.loading",
    "parse": "applications.parsing.trees",
    "similarity": "applications.similarity.pair_scores",
    "surprisal": "applications.language_models.word_measures",
    "train": "chain.training.from_python",
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
