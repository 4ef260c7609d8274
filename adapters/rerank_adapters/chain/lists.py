"""Completes a job by its lists: the name of a format that was guessed, and ranks for lists without scores.

A weighted sum of features knows the order of the recogniser only by features. Lists that have neither features nor
totals get `reciprocal-rank`, so that the order counts; a job that names a feature of the order itself stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from rerank_adapters.chain.job import Job
from rerank_plugins import NBestList

RANK = "reciprocal-rank"
OF_THE_ORDER = (RANK, "rank", "decoder-score")  # features that carry the decoder's order into the sum
NO_SCORES = f"the lists have no scores: the feature {RANK}, 1 / rank in the recogniser's order, is added"

logger = logging.getLogger(__name__)

Wanted = dict[str, str | bool | None]  # `format`: the guessed name, or None; `ranks`: whether ranks are added


def for_lists(job: Job, nbests: Sequence[NBestList], *, ranks: bool = True) -> Job:
    """The job with the format of the lists that it has read, and with ranks where the lists need them, said in a line.

    With `ranks` false the features stay as they are, as where they come from a table.
    """
    return with_wanted(job, wanted_by(job, nbests, ranks=ranks))


def wanted_by(job: Job, nbests: Sequence[NBestList], *, ranks: bool = True) -> Wanted:
    """What a job needs because of its lists."""
    return {"format": job.format.guessed_name, "ranks": ranks and needs_ranks(job, nbests)}


def with_wanted(job: Job, wanted: Wanted) -> Job:
    """The job with what its lists need; a line of the log says where ranks are added."""
    if wanted["format"] is not None:
        job = job.with_config({"nbest": {"use": wanted["format"]}})
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
    return job.with_config({"feature": [*job.config.feature, {"use": RANK}]})
