"""Finds a segment with its list, features, references and weights, in a finished job or in lists and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rerank_adapters.chain.extract import stream_tables
from rerank_adapters.chain.job import Data, Job
from rerank_adapters.chain.provenance import check_same_lists, recorded_job
from rerank_adapters.chain.run import RERANKED, weights_file
from rerank_adapters.commands.options import JobFlags
from rerank_adapters.config import Config, DataSet
from rerank_adapters.formats.reading import read_nbest
from rerank_adapters.formats.references import ReferenceForm, read_references
from rerank_adapters.weights import Weights, read_weights
from rerank_plugins import ConfigError, FeatureTable, NBestList
from rerank_plugins.core.registry import Registry, suggestion


@dataclass(frozen=True)
class Segment:
    """A list with the table of its features alone, its references, and the weights with the job that they record."""

    job: Job
    weights: Weights
    nbest: NBestList
    references: tuple[str, ...]
    table: FeatureTable

    @classmethod
    def of_job(cls, registry: Registry, config: Path, work: Path | None, name: str | None, segment: str) -> Segment:
        """The segment of a job whose files are in the work folder; its feature table need not be there.

        Raises ConfigError for a job without weights, and for a data set or a segment that it does not have.
        """
        job = Job.create(JobFlags(config).settings, registry)
        folder = work or (job.config.path(job.config.work) if job.config.work else Path("work") / config.stem)
        weights = folder / weights_file(RERANKED)
        if not weights.is_file():
            raise ConfigError(f"{weights}: no such weights: `rerank run {config}` makes them")
        for set_name, data_set in _data_sets(job.config, config, name).items():
            data = job.read(data_set)
            position = _position(data, segment)
            if position is not None:
                table = folder / f"{set_name}.npz"
                return cls._at(registry, weights, data, position, table if table.is_file() else None)
        where = f"the data set {name!r}" if name else f"{config}"
        raise ConfigError(f"{where} has no segment {segment!r}")

    @classmethod
    def of_lists(
        cls,
        registry: Registry,
        nbest: Sequence[str],
        weights: Path,
        references: Sequence[Path],
        form: ReferenceForm,
        source: Path | None,
        segment: str,
    ) -> Segment:
        """The segment of lists. Raises ConfigError where they do not have it."""
        job = recorded_job(read_weights(weights).provenance, weights, registry)
        nbests = read_nbest([Path(path) for path in nbest], job.format, source)
        ids = [read.segment_id for read in nbests]
        by_segment: list[tuple[str, ...]] = [() for _ in nbests]
        if references:
            by_segment = read_references(references, form).for_segments(ids)
        data = Data("lists", nbests, by_segment)
        position = _position(data, segment)
        if position is None:
            raise ConfigError(f"{nbest[0]}: no segment {segment!r}{suggestion(segment, ids)}")
        return cls._at(registry, weights, data, position, None)

    @classmethod
    def _at(cls, registry: Registry, weights: Path, data: Data, position: int, path: Path | None) -> Segment:
        """The segment at a position of the data, with its features from the table at `path`, or extracted."""
        tuned = read_weights(weights)
        job = recorded_job(tuned.provenance, weights, registry)
        nbest = data.nbests[position]
        if path is not None:
            whole = FeatureTable.load(path)
            check_same_lists(data.nbests, whole)
            table = whole.take_segments([position])[0]
        else:
            ((_, table),) = stream_tables(job, [nbest])
        return cls(job, tuned, nbest, data.references[position], table)


def _data_sets(config: Config, path: Path, name: str | None) -> dict[str, DataSet]:
    """By name, the data set of that name, or all, those to test on first. Raises ConfigError for an unknown name."""
    sets = {test.name: test for test in config.test}
    if config.tune is not None:
        sets["tune"] = config.tune
    if name is not None and name not in sets:
        raise ConfigError(f"{path}: no data set named {name!r}{suggestion(name, sets)}")
    return sets if name is None else {name: sets[name]}


def _position(data: Data, segment: str) -> int | None:
    return next((i for i, nbest in enumerate(data.nbests) if nbest.segment_id == segment), None)
