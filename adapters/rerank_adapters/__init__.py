"""Formats, metrics, tuners, configuration and the command line around `rerank_plugins`.

The functions of the Python API can be imported from here (see `api.py`). They are loaded when they are first used, so
that the command line starts quickly.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rerank_adapters.api import Reranker, evaluate, extract_features, read_nbest, rerank, tune
    from rerank_adapters.applications.acceptability.compare import compare
    from rerank_adapters.applications.completion.completed import complete
    from rerank_adapters.applications.language_models.word_measures import surprisal
    from rerank_adapters.applications.mbr import mbr
    from rerank_adapters.applications.parsing.trees import parse
    from rerank_adapters.applications.restoration.fill import fill
    from rerank_adapters.applications.restoration.locate import locate
    from rerank_adapters.applications.similarity.pair_scores import similarity
    from rerank_adapters.applications.substitutes import substitutes
    from rerank_adapters.chain.loading import load, load_all
    from rerank_adapters.chain.training.from_python import train

__all__ = [
    "Reranker",
    "compare",
    "complete",
    "evaluate",
    "extract_features",
    "fill",
    "load",
    "load_all",
    "locate",
    "mbr",
    "parse",
    "read_nbest",
    "rerank",
    "similarity",
    "substitutes",
    "surprisal",
    "train",
    "tune",
]
_MODULES = {
    "compare": "applications.acceptability.compare",
    "complete": "applications.completion.completed",
    "fill": "applications.restoration.fill",
    "load": "chain.loading",
    "load_all": "chain.loading",
    "locate": "applications.restoration.locate",
    "mbr": "applications.mbr",
    "parse": "applications.parsing.trees",
    "similarity": "applications.similarity.pair_scores",
    "substitutes": "applications.substitutes",
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
