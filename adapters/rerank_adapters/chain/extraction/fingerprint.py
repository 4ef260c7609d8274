"""Computes the fingerprint of n-best lists: a hash of all that an extractor can read of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np

from rerank_plugins import NBestList


def of_lists(nbests: Sequence[NBestList], *, around: bool = True) -> str:
    """Hash of all that an extractor can see of the lists; without source and context unless `around`."""
    digest = hashlib.sha256()
    for nbest in nbests:
        beside = [nbest.source, nbest.context] if around else []
        head = [nbest.segment_id, *beside, nbest.feature_names, len(nbest)]
        sparse = [dict(h.sparse) for h in nbest] if any(h.sparse for h in nbest) else []
        links = [[h.links for h in nbest]] if any(h.links is not None for h in nbest) else []
        text = json.dumps([head, nbest.texts, sparse, *links], ensure_ascii=False, sort_keys=True)
        numbers = [[np.nan if h.score is None else h.score, *h.features] for h in nbest]
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(np.array(numbers, np.float64).tobytes())
    return digest.hexdigest()
