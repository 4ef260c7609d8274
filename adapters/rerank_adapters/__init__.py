"""Formats, metrics, tuners, configuration and the command line around `rerank_plugins`.

The functions of the Python API can be imported from here (see `api.py`). They are loaded when they are first used, so
that the command line starts quickly.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["Reranker", "evaluate", "extract_features", "read_nbest", "rerank", "tune"]

if TYPE_CHECKING:
    from rerank_adapters.api import Reranker, evaluate, extract_features, read_nbest, rerank, tune


def __getattr__(name: str) -> Any:
    if name in __all__:
        from rerank_adapters import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
