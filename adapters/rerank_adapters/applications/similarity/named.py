"""What scores pairs, as Python users and commands name it: the one rule for measures, metrics and trained systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rerank_adapters.applications.similarity.measure import PairScorer, SimilarityMeasure, SimilaritySystem
from rerank_adapters.applications.similarity.model import SimilarityModel
from rerank_adapters.chain.loading import all_plugins, file_of, kinds_of, load, made, table_of_name
from rerank_plugins import Metric


def measure_of(spec: Any, usual: Mapping[str, Any] = {}, **options: Any) -> Metric | PairScorer:
    """The measure of that name, with its options; the metric of that name; the trained system of a file; or the object.

    A name is a text, with options ("svs.meaning,svs=en"), or a table with `use`. `options` are those of the measure,
    and so are those of `usual` where its class has them and nothing else is said.

    Raises ConfigError for an unknown measure or option, and for data that are missing; TypeError for another object.

    >>> measure_of("strings.edits,text=none", {"text": "penn-tokenize"}).text
    'none'
    """
    data = {key: value for key, value in usual.items() if key != "text"}  # a system records its text steps
    if not isinstance(spec, str | Path | Mapping):
        if options:
            raise TypeError(f"options ({', '.join(options)}) belong to a name; {type(spec).__name__} is an object")
        if isinstance(spec, SimilarityModel):
            return made(SimilaritySystem, {"model": spec}, data, "a system")
        if not isinstance(spec, PairScorer | Metric):
            wanted = "the name of a measure, a table with 'use', a file or a trained system"
            raise TypeError(f"wanted {wanted}, found {spec!r:.60}")
        return spec
    if (path := file_of(spec)) is not None:
        return made(SimilaritySystem, {"model": path}, data | options, str(spec))
    table = table_of_name(spec)
    name = table.pop("use")
    if kinds_of(all_plugins(), name, "metric"):
        metric: Metric = load(spec, "metric", **options)
        return metric
    table.pop("label", None)
    return made(SimilarityMeasure, {"name": name}, {**usual, **table, **options}, name)
