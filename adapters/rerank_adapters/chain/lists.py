"""Completes a job by its lists, and reads the tuning set that a command names.

A weighted sum of features knows the order of the recogniser only by features. Lists that have neither features nor
totals get `reciprocal-rank`, so that the order counts; a job that names a feature of the order itself stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from rerank_adapters.chain.learn import validate_tuning
from rerank_adapters.data.content import ContentCheck
from rerank_adapters.data.dataset import Dataset, Files
from rerank_adapters.formats.pairing import Unpaired, warn
from rerank_adapters.formats.references import ReferenceForm
from rerank_adapters.job.config import DataSet
from rerank_adapters.job.job import Job
from rerank_plugins import FeatureTable, NBestList

RANK = "reciprocal-rank"
OF_THE_ORDER = (RANK, "decoder-score")  # features that carry the decoder's order into the sum
NO_SCORES = f"the lists have no scores: the feature {RANK}, 1 / rank in the recogniser's order, is added"

logger = logging.getLogger(__name__)

Wanted = dict[str, str | bool | None]  # `format`: the guessed name, or None; `ranks`: whether ranks are added


def wanted_by(job: Job, nbests: Sequence[NBestList]) -> Wanted:
    """What a job needs because of its lists."""
    return {"format": job.format.guessed_name, "ranks": needs_ranks(job, nbests)}


def with_wanted(job: Job, wanted: Wanted) -> Job:
    """The job with what its lists need; a line is logged where ranks are added."""
    if wanted["format"] is not None:
        job = job.changed(nbest={"use": wanted["format"]})
    if wanted["ranks"]:
        logger.info("rerank: %s", NO_SCORES)
        job = with_ranks(job)
    return job


def needs_ranks(job: Job, nbests: Sequence[NBestList]) -> bool:
    """Whether the lists have neither features nor totals, and no feature of the job stands for their order."""
    if not job.config.ranks or any(table.get("use") in OF_THE_ORDER for table in job.config.feature):
        return False
    scored = any(nbest.feature_names or any(h.sparse or h.score is not None for h in nbest) for nbest in nbests)
    return not scored and any(len(nbest) > 1 for nbest in nbests)


def with_ranks(job: Job) -> Job:
    """The job with the feature of the ranks after its own features."""
    return job.changed(feature=[*job.config.feature, {"use": RANK}])


def with_table(job: Job, path: Path | None) -> tuple[Job, FeatureTable | None]:
    """The table of features at `path`, and the job with what that records; without a path, the job alone."""
    if path is None:
        return job, None
    table = FeatureTable.load(path)
    return job.of_table(table, path), table


def content_check(job: Job, *, styles: bool = True) -> ContentCheck:
    """How texts are checked against their references, by the settings of a job."""
    config = job.config
    default = "metric" not in config.model_fields_set
    return ContentCheck(job.measures, config.language, config.trust_pairs, default, styles)


def files_of(job: Job, data: DataSet) -> Files:
    """The files of a data set of a job."""
    path = job.config.path
    source, groups = (path(own) if own else None for own in (data.source, data.groups))
    lists, references = ([path(own) for own in several] for several in (data.nbest, data.references))
    return Files(lists, references, source, groups, data.reference_form, data.unpaired)


def read_tuning_set(
    job: Job,
    nbest: Sequence[str],
    references: Sequence[Path],
    form: ReferenceForm,
    source: Path | None,
    unpaired: Unpaired = "empty",
) -> Dataset:
    """Read lists and references. What is unpaired or doubtful is logged.

    Raises ConfigError where lists and references do not belong together.
    """
    files = Files(nbest, references, source, None, form, unpaired)
    data = Dataset.read("tune", files, job.format, "tuning", content_check(job))
    warn([*data.findings, *data.doubts])
    return data


def features_of(
    job: Job,
    data: Dataset,
    values: FeatureTable | None,
    table: Path | None,
    *,
    folder: Path = Path(),
) -> FeatureTable:
    """The job's features of a tuning set: the columns of `values`, which `table` holds, or extracted where it is None.

    `folder` is where a table of them would be saved. Wrong settings of the tuning are errors before an extraction.
    """
    extraction = job.extraction("tune")
    if table is not None and values is not None:
        return extraction.columns(data.lists, values, table, folder=folder, all_columns=True)
    decoder = extraction.decoder_table(data.lists)
    validate_tuning(job, data, decoder)
    return extraction.table(data.lists, decoder, folder=folder)
