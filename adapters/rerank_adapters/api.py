"""The five steps of reranking from Python. Plugins are named as on the command line: "bleu,tokenize=none".

Where a program has the hypotheses of one sentence at a time, a Reranker loads the models once:

    reranker = Reranker.load("weights.toml")
    reranked = reranker.rerank(["so it is", "so is it"], source="so ist es")
    print(reranked.best, reranked[0].score)

from rerank_adapters import evaluate, extract_features, read_nbest, rerank, tune
nbests = read_nbest(["tune.nbest"])
table = extract_features(nbests, ["length", "consensus"])
weights = tune(nbests, table, ["tune.ref"], tuner="mert")
best = rerank(nbests, table, weights)
print(evaluate({"1-best": [n[0].text for n in nbests], "reranked": best}, ["tune.ref"], nbests=nbests))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.chain.apply import apply_weights, table_pairs
from rerank_adapters.chain.content import PairedTexts
from rerank_adapters.chain.data import Data
from rerank_adapters.chain.evaluate import compare
from rerank_adapters.chain.extract import dense_rule, extract_with
from rerank_adapters.chain.job import Job
from rerank_adapters.chain.lists import for_lists
from rerank_adapters.chain.provenance import job_of_table, recorded_job
from rerank_adapters.chain.reranker import RankedHypothesis, Reranked, Reranker
from rerank_adapters.chain.tune import learn
from rerank_adapters.config import Config, plugin_table
from rerank_adapters.evaluation import Evaluation
from rerank_adapters.formats.decoder_features import decoder_table
from rerank_adapters.formats.frames import Roles, is_frame, lists_of_frame, lists_of_records
from rerank_adapters.formats.pairing import pair_lists, warn
from rerank_adapters.formats.reading import read_nbest as read_lists
from rerank_adapters.formats.references import ReferenceForm, read_references
from rerank_adapters.weights import Weights
from rerank_plugins import FeatureTable, NBestList
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.registry import Registry
from rerank_plugins.core.sentences import check_lists

__all__ = ["RankedHypothesis", "Reranked", "Reranker", "evaluate", "extract_features", "read_nbest", "rerank", "tune"]

Paths = str | Path | Sequence[str | Path]  # one file, or several


def _job(**tables: object) -> Job:
    config = Config().model_copy(update={key: value for key, value in tables.items() if value})
    return Job.create(config, _registry())


def _registry() -> Registry:
    """The registry of all plugins; a plugin that cannot be loaded is left out with a warning."""
    registry = load_plugins(BUILTIN)
    for failure in registry.failures:
        warnings.warn(str(failure), stacklevel=4)
    return registry


def read_nbest(
    data: object,
    *,
    format: str = "auto",
    source: str | Path | None = None,
    id: str | None = None,
    text: str | None = None,
    score: str | None = None,
) -> list[NBestList]:
    """The lists of files, of a folder, of a data frame or of records, one for each segment.

    Files of one segment are merged, and lists come in the order of ids; `source` is a file of source sentences. A frame
    (pandas, polars or Arrow) or a list of records has a row for each hypothesis, and lists come in the order of their
    first rows; `id`, `text`, `score` and `source` name columns, by default those of these names. Other numeric columns
    are features. Raises FormatError with file and line, or with the row.

    >>> rows = [{"id": 1, "text": "so it is", "lm": -3.0}, {"id": 1, "text": "so is it", "lm": -4.0}]
    >>> read_nbest(rows)
    [NBestList '1': 2 hypotheses, features lm
       0  so it is
       1  so is it]
    """
    roles = Roles(id, text, score, None if source is None else str(source))
    if is_frame(data):
        return lists_of_frame(data, roles)
    files: list[Any] = [data] if isinstance(data, str | Path) else list(data) if isinstance(data, Iterable) else []
    if not files:
        raise TypeError(f"wanted files, a data frame or records, found {data!r:.60}")
    if isinstance(files[0], Mapping):
        return lists_of_records(files, roles)
    if wrong := [file for file in files if not isinstance(file, str | Path)]:
        raise TypeError(f"wanted files, a data frame or records, found {wrong[0]!r:.60} among them")
    if columns := [name for name in ("id", "text", "score") if getattr(roles, name) is not None]:
        raise TypeError(f"{columns[0]}= names a column of a frame or of records, and there are files")
    return read_lists(files, _job(nbest=plugin_table(format)).format, source)


def extract_features(
    nbests: Sequence[NBestList], features: Sequence[str] = (), *, format: str = "auto", jobs: int = 2
) -> FeatureTable:
    """The decoder's features and the named ones, in a table with one row per hypothesis.

    Features read the tokens of the lists as they are, like those of `rerank extract -f`: nothing is tokenised here. A
    feature may have text steps of its own, as in "treelet-lm,text=penn-tokenize".
    """
    check_lists(nbests)
    tables = [plugin_table(feature) for feature in features]
    job = for_lists(_job(nbest=plugin_table(format), feature=tables, jobs=jobs), nbests)
    return extract_with(job, nbests, decoder_table(nbests, dense_rule(job)))


def tune(
    nbests: Sequence[NBestList],
    table: FeatureTable,
    references: Paths,
    *,
    metric: str = "bleu",
    tuner: str = "mira",
    seed: int = 1,
    reference_form: ReferenceForm = "auto",
    trust_pairs: bool = False,
) -> Weights:
    """Tune weights for the features of the table, from uniform start weights; `references` are files.

    Raises ConfigError where lists and references do not belong together, unless `trust_pairs`.
    """
    check_lists(nbests)
    job = _job(metric=[plugin_table(metric)], tuner=plugin_table(tuner), seed=seed, trust_pairs=trust_pairs)
    job = job_of_table(job, table, Path("table.npz"))
    paired = pair_lists(nbests, read_references(_listed(references), reference_form), purpose="tuning")
    warn(paired.findings)
    PairedTexts.of_lists(paired.nbests, paired.references, _listed(references)).check(job)
    return learn(job, Data.of("tune", paired), table, Path()).weights


def rerank(nbests: Sequence[NBestList], table: FeatureTable, weights: Weights) -> list[str]:
    """The new 1-best of each list. Raises ConfigError where the weights are for other features than the table has."""
    check_lists(nbests)
    job = recorded_job(weights.provenance, Path("weights.toml"), _registry())
    chosen = apply_weights(job, weights, table_pairs(nbests, table))
    return [nbest[rescored.order[0]].text for nbest, rescored in chosen]


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: Paths,
    *,
    metrics: Sequence[str] = ("bleu", "chrf", "ter"),
    nbests: Sequence[NBestList] | None = None,
    seed: int = 1,
    reference_form: ReferenceForm = "auto",
    trust_pairs: bool = False,
) -> Evaluation:
    """Compare systems (name -> one output per segment, the baseline first) by metrics, with significance tests.

    With `nbests`, the outputs are in the order of the lists, and the result has their oracle and anti-oracle. A
    reference without a list counts with an empty hypothesis, which is logged. Raises ConfigError where systems and
    references do not belong together, unless `trust_pairs`.
    """
    for name, outputs in systems.items():
        if isinstance(outputs, str):
            raise TypeError(f"system {name!r}: wanted a list of outputs, one for each segment, found a text")
    all_references = read_references(_listed(references), reference_form)
    job = _job(metric=[plugin_table(metric) for metric in metrics], seed=seed, trust_pairs=trust_pairs)
    if nbests is None:
        ids, lists, whole = all_references.ids, None, dict(systems)
        of_segments = all_references.for_segments(ids)
    else:
        paired = pair_lists(nbests, all_references)
        warn(paired.findings)
        ids, (lists, of_segments) = paired.ids, paired.with_lost()
        places = {nbest.segment_id: place for place, nbest in enumerate(nbests)}
        whole = {
            name: [outputs[places[id_]] if id_ in places else "" for id_ in ids] for name, outputs in systems.items()
        }
    named = {f"outputs of {name!r}": outputs for name, outputs in whole.items()}
    PairedTexts(named, of_segments, _listed(references), ids=ids).check(job)
    return compare(job, whole, of_segments, nbests=lists, segment_ids=ids)


def _listed(paths: Paths) -> list[str | Path]:
    return [paths] if isinstance(paths, str | Path) else list(paths)
