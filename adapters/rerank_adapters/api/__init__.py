"""The names of the Python API of n-best lists.

    from rerank_adapters import Pipeline, evaluate, read_nbest

    nbests = read_nbest("tune.nbest")
    pipeline = Pipeline(["length", "consensus"], tuner="mert").fit(nbests, "tune.ref")
    systems = {"1-best": [nbest[0].text for nbest in nbests], "reranked": pipeline.predict(nbests)}
    print(evaluate(systems, "tune.ref", nbests=nbests))

Where a program has the hypotheses of one sentence at a time, a Reranker loads the models of weights once:

    reranker = Reranker.load("weights.toml")
    reranked = reranker.rerank(["so it is", "so is it"], source="so ist es")
    print(reranked.best, reranked[0].score)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rerank_adapters.api.evaluation import evaluate
from rerank_adapters.api.pipeline import Pipeline
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.frames import is_frame, lists_of_columns, lists_of_frame, lists_of_records
from rerank_adapters.formats.reading import read_nbest as read_lists
from rerank_adapters.formats.recognition import format_of
from rerank_adapters.formats.tables import Roles
from rerank_adapters.job.models import all_plugins, load
from rerank_adapters.reranker import RankedHypothesis, Reranked, Reranker
from rerank_adapters.runtime.progress import showing
from rerank_adapters.texts.sources import Sources
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, Hypothesis, NBestList
from rerank_plugins.core.columns import one_line, plain

__all__ = [
    "Evaluation",
    "FeatureTable",
    "Hypothesis",
    "NBestList",
    "Pipeline",
    "RankedHypothesis",
    "Reranked",
    "Reranker",
    "Weights",
    "evaluate",
    "read_nbest",
]


def read_nbest(
    data: object,
    *,
    format: object = None,
    source: str | Path | None = None,
    id: str | None = None,
    text: str | None = None,
    score: str | None = None,
) -> list[NBestList]:
    """The lists of files, of a folder, of a data frame or of records, one for each segment.

    Files of one segment are merged, and lists come in the order of ids; `format` is theirs, as `load` takes it, by
    default the one that the first lines show, and `source` a file of source sentences. A frame (pandas, polars or
    Arrow) or a list of records has a row for each hypothesis, and lists come in the order of their first rows;
    `id`, `text`, `score` and `source` name columns, by default those of these names. Other numeric columns are
    features. Columns of files (CSV, TSV, JSON lines, Parquet, Arrow) are named in the same way. Raises FormatError
    with file and line, or with the row.

    >>> rows = [{"id": 1, "text": "so it is", "lm": -3.0}, {"id": 1, "text": "so is it", "lm": -4.0}]
    >>> read_nbest(rows)
    [NBestList '1': 2 hypotheses, features lm
       0  so it is
       1  so is it]
    """
    roles = Roles(id, text, score, None if source is None else str(source))
    if is_frame(data):
        return lists_of_frame(data, roles)
    if hasattr(data, "collect") and not isinstance(data, Iterable):
        raise TypeError(f"wanted files, a data frame or records, found {type(data).__name__}: collect() makes a frame")
    if isinstance(data, Mapping):
        columns_of = {name: plain(values) for name, values in data.items()}
        if any(isinstance(values, str) or not isinstance(values, Iterable) for values in columns_of.values()):
            raise TypeError("wanted files, a data frame or records, found one mapping: give records as a list of them")
        return lists_of_columns({name: list(values) for name, values in columns_of.items()}, roles)
    files: list[Any] = [data] if isinstance(data, str | Path) else list(data) if isinstance(data, Iterable) else []
    if not files:
        raise TypeError(f"wanted files, a data frame or records, found {one_line(data)}")
    if isinstance(files[0], Mapping):
        return lists_of_records(files, roles)
    if wrong := [file for file in files if not isinstance(file, str | Path)]:
        raise TypeError(f"wanted files, a data frame or records, found {one_line(wrong[0])} among them")
    columns = {name: own for name in ("id", "text", "score") if (own := getattr(roles, name)) is not None}
    if isinstance(source, str) and (columns or format == "rows") and not Path(source).is_file():
        columns["source"], source = source, None
    if columns:
        if format not in (None, "rows"):
            raise TypeError(f"{next(iter(columns))}= names a column of a table, and the format is {format!r:.60}")
        format = {"use": "rows", **columns}
    with showing(False):
        if format is None:
            format = format_of(files[0], all_plugins().factories("format"))
        return read_lists(files, load(format, "format"), None if source is None else Sources(source).of)
